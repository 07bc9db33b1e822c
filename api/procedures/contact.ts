import type { z } from 'zod';
import { ApiError } from '../../contract/api-error.ts';
import { contract } from '../../contract/index.ts';
import type { NewMail } from '../../domain/mail.ts';
import type { ApiDeps } from '../deps.ts';
import { procedure } from '../procedure.ts';

export function contactProcedures({ config, limiters, sendMail }: ApiDeps) {
  const { provider, contactAddress } = config.email;
  return {
    send: procedure(contract.contact.send, async ({ input, request }) => {
      await limiters.contact.consume(request.clientAddress, request.setHeader);
      // A bot that fills in the hidden field must not learn that it was detected.
      if (input.website) return { ok: true as const };
      if (provider === 'none' || contactAddress === undefined) {
        throw new ApiError('PRECONDITION_FAILED', { message: 'The contact form is not configured on this deployment.' });
      }
      await sendMail(contactMail(contactAddress, input));
      return { ok: true as const };
    }),
  };
}

/** The mail that brings a message of the contact form to the operator. A reply to it goes to the sender of the message. */
function contactMail(to: string, { email, name, message }: z.output<typeof contract.contact.send.body>): NewMail {
  const sender = name ? `${name} <${email}>` : email;
  return {
    kind: 'contact',
    to,
    replyTo: { address: email, ...(name ? { name } : {}) },
    subject: `Contact form: ${name || email}`,
    text: `${sender} wrote through the contact form:\n\n${message.replaceAll('\r\n', '\n')}\n`,
  };
}
