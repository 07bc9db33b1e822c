import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import type { ServerConfig } from '../config/server.ts';
import { MailError, type Mailer, messageIdOf, type OutgoingMail } from './port.ts';

/** The mailer that the configuration names. Nothing connects before the first mail. */
export function createMailer({ email, dataDir }: Pick<ServerConfig, 'email' | 'dataDir'>): Mailer {
  const { provider, smtpUrl, from } = email;
  if (provider === 'smtp' && smtpUrl !== undefined) return createSmtpMailer({ url: smtpUrl, from });
  if (provider === 'mailbox') return createMailbox({ directory: join(dataDir, 'mail'), from });
  return { send: refuseAll };
}

/** The error is not final: mails that were queued with a provider wait until there is one again. */
async function refuseAll(): Promise<void> {
  throw new MailError('no_provider', 'No email provider is configured.', { final: false, cause: undefined });
}

/** In milliseconds: a server that accepts a connection and then hangs must not block a mail for long. */
const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000, dnsTimeout: 10_000 };

/**
 * Sends over SMTP, with a new connection for each mail: `smtp://` uses STARTTLS if the server offers it, `smtps://` TLS from the start;
 * `?requireTLS=true` refuses to send without TLS.
 */
function createSmtpMailer({ url, from }: { url: string; from: string }): Mailer {
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
          // Asks for no out-of-office replies.
          headers: { 'Auto-Submitted': 'auto-generated' },
        });
      } catch (error) {
        throw toMailError(error);
      }
    },
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

/**
 * Stores mails as files instead of sending them, for development: one `.eml` each, named by time, kind and recipient. They are in plain
 * UTF-8 (RFC 6532), so that a link can be copied out of them.
 */
function createMailbox({ directory, from }: { directory: string; from: string }): Mailer {
  return {
    async send(mail) {
      try {
        await write(directory, fileName(mail), format(mail, from));
      } catch (cause) {
        const message = `The mail could not be written (${(cause as NodeJS.ErrnoException).code}).`;
        throw new MailError('mail_not_sent', message, { final: false, cause });
      }
    },
  };
}

/** Writes atomically, so that a reader never sees half a mail. A mail that is sent twice has one file. */
async function write(directory: string, name: string, content: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, name);
  await writeFile(`${file}.part`, content, { mode: 0o600 });
  await rename(`${file}.part`, file);
}

function fileName({ createdAt, kind, to, id }: OutgoingMail): string {
  const time = createdAt.toISOString().replaceAll(':', '-');
  const recipient = to.replace(/[^A-Za-z0-9@._+-]/g, '_').slice(0, 100);
  return `${time}-${kind}-${recipient}-${id.slice(-8)}.eml`;
}

function format(mail: OutgoingMail, from: string): string {
  const { replyTo } = mail;
  const headers: [string, string | undefined][] = [
    ['From', from],
    ['To', mail.to],
    ['Reply-To', replyTo ? formatAddress(replyTo) : undefined],
    ['Subject', mail.subject],
    ['Date', mail.createdAt.toUTCString().replace('GMT', '+0000')],
    ['Message-ID', messageIdOf(mail, from)],
    ['MIME-Version', '1.0'],
    ['Content-Type', 'text/plain; charset=utf-8'],
    ['Content-Transfer-Encoding', '8bit'],
  ];
  const lines = headers.flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value.replace(/\p{Cc}+/gu, ' ')}`]));
  return `${lines.join('\n')}\n\n${mail.text.replaceAll('\r\n', '\n')}`;
}

function formatAddress({ address, name }: { address: string; name: string | null }): string {
  return name === null ? address : `"${name.replace(/["\\]/g, '\\$&')}" <${address}>`;
}
