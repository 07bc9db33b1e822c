import { createTransport } from 'nodemailer';
import { MailError, type Mailer, messageIdOf } from './port.ts';

/** A server that accepts and then says nothing must not hold a mail for long. Milliseconds. */
const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000, dnsTimeout: 10_000 };

/**
 * Sends over SMTP: `smtp://` with STARTTLS where the server offers it, `smtps://` with TLS from the start, `?requireTLS=true` never
 * without. A connection for each mail.
 */
export function createSmtpMailer({ url, from }: { url: string; from: string }): Mailer {
  const transport = createTransport({ url, ...timeouts, disableFileAccess: true, disableUrlAccess: true });
  return {
    async send(mail) {
      const replyTo = mail.replyTo && { address: mail.replyTo.address, name: mail.replyTo.name ?? '' };
      try {
        await transport.sendMail({
          from,
          to: { address: mail.to, name: '' },
          ...(replyTo ? { replyTo } : {}),
          subject: mail.subject,
          text: mail.text,
          date: mail.createdAt,
          messageId: messageIdOf(mail, from),
          // Out-of-office answers to a machine's mail help nobody.
          headers: { 'Auto-Submitted': 'auto-generated' },
        });
      } catch (error) {
        throw toMailError(error);
      }
    },
  };
}

/** What nodemailer says of a failure. */
interface SmtpFailure {
  code?: string;
  command?: string;
  responseCode?: number;
}

function toMailError(cause: unknown): MailError {
  const { code = 'unknown', command, responseCode } = cause as SmtpFailure;
  // Of the recipient or the mail itself; a sender or a password that is refused is a configuration to mend.
  const final = responseCode !== undefined && responseCode >= 500 && (command === 'RCPT TO' || command === 'DATA');
  if (final) return new MailError('mail_refused', `The mail server refuses this mail (${responseCode}).`, { final, cause });
  const reason = responseCode === undefined ? code : `${code}, ${responseCode}`;
  return new MailError('mail_not_sent', `The mail server did not take the mail (${reason}).`, { final, cause });
}
