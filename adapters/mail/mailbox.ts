import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServerConfig } from '../../base/config/server.ts';
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

/** A mail that was kept. */
interface KeptMail {
  id: string;
  to: string;
  subject: string;
  /** Plain text. */
  text: string;
  createdAt: Date;
}

/** The mails that were kept. */
export interface Mailbox {
  /** `limit` mails after the first `offset`, newest first, and how many there are. */
  list(paging: { limit: number; offset: number }): Promise<{ items: KeptMail[]; total: number }>;
}

/** The mailbox of a deployment; undefined if it sends its mails. */
export function openMailbox({ email, dataDir }: Pick<ServerConfig, 'email' | 'dataDir'>): Mailbox | undefined {
  if (email.provider !== 'mailbox') return undefined;
  const directory = mailboxDirectory(dataDir);
  return {
    async list({ limit, offset }) {
      const names = (await listFiles(directory))
        .filter((name) => name.endsWith('.eml'))
        .sort()
        .reverse();
      const contents = names.slice(offset, offset + limit).map((name) => readFile(join(directory, name), 'utf8'));
      return { items: (await Promise.all(contents)).map(parse), total: names.length };
    },
  };
}

/** Where the mailbox is below the data of a deployment. */
export function mailboxDirectory(dataDir: string): string {
  return join(dataDir, 'mail');
}

/** The names in a directory; none before the first mail has made it. */
async function listFiles(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
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

/** Reads what `format` has written. */
function parse(content: string): KeptMail {
  const [head = ''] = content.split('\n\n', 1);
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(head)?.[1] ?? '';
  const id = /boundary="([^"]+)"/.exec(head)?.[1] ?? '';
  const [, plain = ''] = content.split(`\n--${id}\n`);
  const text = plain.slice(plain.indexOf('\n\n') + 2);
  return { id, to: header('To'), subject: header('Subject'), text, createdAt: new Date(header('Date')) };
}

function formatAddress({ address, name }: { address: string; name: string | null }): string {
  return name === null ? address : `"${name.replace(/["\\]/g, '\\$&')}" <${address}>`;
}
