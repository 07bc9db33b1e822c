import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type MailStyle, signText, toHtml } from './html.ts';
import { MailError, type Mailer, messageIdOf, type OutgoingMail } from './port.ts';

/**
 * Stores mails as files instead of sending them, for development: one `.eml` each, named by time, kind and recipient. They are in plain
 * UTF-8 (RFC 6532), so that a link can be copied out of them.
 */
export function createMailbox({ directory, from, style }: { directory: string; from: string; style: MailStyle }): Mailer {
  return {
    async send(mail) {
      try {
        await write(directory, fileName(mail), format(mail, from, style));
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

function format(mail: OutgoingMail, from: string, style: MailStyle): string {
  const { replyTo } = mail;
  const headers: [string, string | undefined][] = [
    ['From', from],
    ['To', mail.to],
    ['Reply-To', replyTo ? formatAddress(replyTo) : undefined],
    ['Subject', mail.subject],
    ['Date', mail.createdAt.toUTCString().replace('GMT', '+0000')],
    ['Message-ID', messageIdOf(mail, from)],
    ['MIME-Version', '1.0'],
    ['Content-Type', `multipart/alternative; boundary="${mail.id}"`],
  ];
  const lines = headers.flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value.replace(/\p{Cc}+/gu, ' ')}`]));
  const part = (type: 'plain' | 'html', content: string) =>
    `--${mail.id}\nContent-Type: text/${type}; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n${content}`;
  const parts = [part('plain', signText(mail.text.replaceAll('\r\n', '\n'), style)), part('html', toHtml(mail, style))];
  return `${lines.join('\n')}\n\n${parts.join('')}--${mail.id}--\n`;
}

function formatAddress({ address, name }: { address: string; name: string | null }): string {
  return name === null ? address : `"${name.replace(/["\\]/g, '\\$&')}" <${address}>`;
}
