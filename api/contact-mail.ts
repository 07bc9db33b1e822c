import type { z } from 'zod';
import type { contract } from '../contract/index.ts';
import type { NewMail } from '../domain/mail.ts';

type ContactMessage = z.output<typeof contract.contact.send.body>;

/** The mail that brings a message of the contact form to the operator, who answers its sender by replying. */
export function contactMail(to: string, { email, name, message }: ContactMessage): NewMail {
  const sender = name ? `${name} <${email}>` : email;
  return {
    kind: 'contact',
    to,
    replyTo: { address: email, ...(name ? { name } : {}) },
    subject: `Contact form: ${name || email}`,
    text: `${sender} wrote through the contact form:\n\n${message.replaceAll('\r\n', '\n')}\n`,
  };
}
