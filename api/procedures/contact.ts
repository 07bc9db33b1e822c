import { ApiError } from '../../contract/api-error.ts';
import { contract } from '../../contract/index.ts';
import { contactMail } from '../contact-mail.ts';
import type { ApiDeps } from '../deps.ts';
import { procedure } from '../procedure.ts';

export function contactProcedures({ config, limiters, sendMail }: ApiDeps) {
  const { provider, contactAddress } = config.email;
  return {
    send: procedure(contract.contact.send, async ({ input, request }) => {
      await limiters.contact.consume(request.clientAddress, request.setHeader);
      // A machine that fills the trap must not learn of it.
      if (input.website) return { ok: true as const };
      if (provider === 'none' || contactAddress === undefined) {
        throw new ApiError('PRECONDITION_FAILED', { message: 'The contact form is not configured on this deployment.' });
      }
      await sendMail(contactMail(contactAddress, input));
      return { ok: true as const };
    }),
  };
}
