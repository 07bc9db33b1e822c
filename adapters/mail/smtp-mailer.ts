import { createTransport } from 'nodemailer';
import { inSpan } from '../../base/telemetry/spans.ts';
import { type MailStyle, signText, toHtml } from './html.ts';
import { MailError, type Mailer, messageIdOf, type OutgoingMail } from './port.ts';

/** In milliseconds: a server that accepts a connection and then hangs must not block a mail for long. */
const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000, dnsTimeout: 10_000 };

/**
 * Sends over SMTP, with a new connection for each mail: `smtp://` uses STARTTLS if the server offers it, `smtps://` TLS from the start;
 * `?requireTLS=true` refuses to send without TLS.
 */
export function createSmtpMailer({ url, from, style }: { url: string; from: string; style: MailStyle }): Mailer {
  const transport = createTransport({ url, ...timeouts, disableFileAccess: true, disableUrlAccess: true });
  async function send(mail: OutgoingMail, signal?: AbortSignal): Promise<void> {
    const replyTo = mail.replyTo && { address: mail.replyTo.address, name: mail.replyTo.name ?? '' };
    try {
      await transport.sendMail({
        from,
        to: { address: mail.to, name: '' },
        ...(replyTo ? { replyTo } : {}),
        subject: mail.subject,
        text: signText(mail.text, style),
        html: toHtml(mail, style),
        date: mail.createdAt,
        messageId: messageIdOf(mail, from),
        signal,
        // Asks for no out-of-office replies.
        headers: { 'Auto-Submitted': 'auto-generated' },
      });
    } catch (error) {
      throw toMailError(error);
    }
  }

  return {
    send: (mail, signal) => inSpan('SMTP send', { kind: 'client', attributes: { 'sheaf.mail_kind': mail.kind } }, () => send(mail, signal)),
  };
}

/** The fields of nodemailer's errors. */
interface SmtpFailure {
  code?: string;
  command?: string;
  responseCode?: number;
}

function toMailError(cause: unknown): MailError {
  const { code = 'unknown', command, responseCode } = cause as SmtpFailure;
  // The recipient or the mail itself is refused. A refused sender or password is a configuration problem instead.
  const final = responseCode !== undefined && responseCode >= 500 && (command === 'RCPT TO' || command === 'DATA');
  if (final) return new MailError('mail_refused', `The mail server refuses this mail (${responseCode}).`, { final, cause });
  const reason = responseCode === undefined ? code : `${code}, ${responseCode}`;
  return new MailError('mail_not_sent', `The mail server did not take the mail (${reason}).`, { final, cause });
}
