import PostalMime, { type Address } from 'postal-mime';
import type { RawText, SourceDocument } from '../document.ts';
import { withoutMarks } from '../outline.ts';
import { readHtmlPart } from '../read-html.ts';
import { damaged } from './archive.ts';

const limits = { maxNestingDepth: 50, maxRfc822NestingDepth: 5, maxHeadersSize: 1024 * 1024 };

/** Reads a mail: sender, recipients, date, subject, text, and the names of its attachments, which are not read. */
export async function readEml({ bytes }: SourceDocument): Promise<RawText> {
  const mail = await PostalMime.parse(bytes, limits).catch((error: unknown) => {
    throw damaged('a mail, or nests too deeply', error);
  });
  // Many texts have lines that look like headers. A mail has at least one of these.
  if (!(mail.from || mail.to || mail.subject || mail.date || mail.messageId)) throw damaged('a mail');
  const html = mail.html === undefined ? undefined : { bytes: Buffer.from(mail.html), mediaType: 'text/html', charset: 'utf-8' };
  const head = [
    line('Subject', mail.subject),
    line('From', mail.from && name(mail.from)),
    line('To', mail.to?.map(name).join(', ')),
    line('Cc', mail.cc?.map(name).join(', ')),
    line('Date', mail.date),
  ];
  const attachments = mail.attachments.map(({ filename }) => line('Attachment', filename ?? undefined));
  const body = mail.text?.trim() || (html ? withoutMarks(readHtmlPart(html).text).trim() : '');
  return {
    text: [head.join(''), body, attachments.join('')]
      .map((part) => part.trim())
      .filter(Boolean)
      .join('\n\n'),
    pages: null,
  };
}

function line(label: string, value: string | undefined): string {
  return value ? `${label}: ${value.replace(/\s+/g, ' ')}\n` : '';
}

function name(address: Address): string {
  if (address.group) return `${address.name}: ${address.group.map(name).join(', ')}`;
  return address.name && address.name !== address.address ? `${address.name} <${address.address}>` : (address.address ?? '');
}
