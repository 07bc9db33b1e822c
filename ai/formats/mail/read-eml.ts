import PostalMime, { type Address, type Attachment, type Email } from 'postal-mime';
import { wordsOf } from '../../../base/text/words.ts';
import { ServiceError } from '../../service-error.ts';
import type { ExtractLimits, RawText, SourceDocument } from '../document.ts';
import type { ReadEmbedded } from '../embedded-file.ts';
import type { Notice } from '../notice.ts';
import { damaged } from '../office/archive.ts';
import { minBesidePicture } from '../office/attachments.ts';
import { withoutMarks } from '../outline.ts';
import { decodeText } from '../text/decode-text.ts';
import { countBroken } from '../text/find-charset.ts';
import { readHtmlPart } from '../web/read-html.ts';
import { decodeMail, withoutUnknownCharset } from './decode-mail.ts';
import { readEvents } from './read-events.ts';
import { takeUuencoded, type UuencodedFile } from './uuencoded.ts';

// Mails within a mail are read here, so that they look like it.
const bounds = { maxNestingDepth: 50, maxHeadersSize: 1024 * 1024, forceRfc822Attachments: true };
const maxMailDepth = 5;
/** A plain text that says so much less than the page beside it is a part of that, or only says that there is a page. */
const stubShare = 0.7;
/** A body of whose words more than this are not in the other one says something else. */
const otherShare = 0.5;
/** What a text names that only says that there is a page, in the languages whose stop words are known. */
const namesPage = /html|browser|navigateur|navegador|webbläsare/i;
/** What mail servers say of a mail that they could not deliver, and the head of that. */
const reports = /^(?:message\/(?:delivery-status|disposition-notification)|text\/rfc822-headers)$/;
/** A picture within the text that has more bytes than a logo, where next to no text stands beside it, may be a picture of text. */
const maxOfLogo = 30_000;
/** By its type or, since some programs send each file as bytes, by its name. */
const picture = /^image\/|\.(?:gif|jpe?g|png)$/i;
const addresses = /https?:\/\/\S+/g;

/**
 * Reads a mail: sender, recipients, date, subject, text, invitations, and the mails that are attached to it. The names of other attachments
 * are listed; the texts of those that can be read stand at the end.
 */
export async function readEml(
  { bytes }: SourceDocument,
  { maxTextCharacters }: ExtractLimits,
  readEmbedded: ReadEmbedded,
): Promise<RawText> {
  const reader = new MailReader(maxTextCharacters, readEmbedded);
  const text = await reader.read(bytes, 0);
  const broken = countBroken(text);
  const lost: Notice[] =
    broken === 0 ? [] : [{ code: 'signs_not_decoded', text: `Signs that could not be decoded became U+FFFD: ${broken}.` }];
  return { text, pages: null, attached: reader.attached, notices: [...reader.notices(), ...lost] };
}

class MailReader {
  /** The texts of attachments. */
  readonly attached: string[] = [];
  readonly #readEmbedded: ReadEmbedded;
  readonly #unread: string[] = [];
  readonly #notices: Notice[] = [];
  /** How many characters may still be read: mails may hold each other many times over. */
  #rest: number;

  constructor(maxCharacters: number, readEmbedded: ReadEmbedded) {
    this.#readEmbedded = readEmbedded;
    this.#rest = maxCharacters * 2;
  }

  notices(): Notice[] {
    if (this.#unread.length === 0) return this.#notices;
    const text = `${this.#unread.length === 1 ? 'An attachment was' : `${this.#unread.length} attachments were`} not read`;
    return [...this.#notices, { code: 'part_not_read', text: `${text}: ${this.#unread.join(', ')}.` }];
  }

  async read(source: Uint8Array, depth: number): Promise<string> {
    const { bytes, notices } = decodeMail(source);
    const mail = await this.#parse(bytes);
    // Many texts have lines that look like headers. A mail has at least one of these.
    const ofMails = /^(?:from|to|subject|date|message-id|mime-version|content-type)$/;
    if (!mail.headers.some(({ key, value }) => ofMails.test(key) && value.trim() !== '')) throw damaged('a mail');
    this.#notices.push(...notices);
    const { text: plain, files } = takeUuencoded(mail.text ?? '');
    const body = bodyOf(mail, plain.trim());
    this.#rest -= body.length;
    const parts = new Set<string>();
    const names: string[] = [];
    for (const attachment of [...mail.attachments, ...files.map(toAttachment)]) {
      const bytes = bytesOf(attachment);
      const text = this.#rest > 0 ? await this.#readPart(attachment, bytes, depth) : undefined;
      if (text !== undefined) {
        // Many invitations are there twice, as text and as a file.
        parts.add(text);
        continue;
      }
      if (attachment.filename) names.push(line('Attachment', attachment.filename));
      const isRead = !isMail(attachment) && (await this.#readFile(attachment, bytes));
      const isPicture = picture.test(attachment.mimeType) || picture.test(attachment.filename ?? '');
      const isLogo = attachment.related && isPicture && (bytes.length < maxOfLogo || body.length > minBesidePicture);
      if (!isRead && !isLogo) this.#unread.push(attachment.filename ?? attachment.mimeType);
    }
    const texts = [headOf(mail), body, ...parts, names.join('')].map((part) => part.trim());
    return texts.filter(Boolean).join('\n\n');
  }

  /** Parses a mail. The parser takes a charset that it does not know for windows-1252, though UTF-8 is likelier. */
  async #parse(bytes: Uint8Array): Promise<Email> {
    const parse = (some: Uint8Array) =>
      PostalMime.parse(some, bounds).catch((error: unknown) => {
        throw damaged('a mail, or nests too deeply', error);
      });
    const unknown = withoutUnknownCharset(bytes);
    if (!unknown) return await parse(bytes);
    const mail = await parse(unknown.bytes);
    const isBroken = countBroken(`${mail.text ?? ''}${mail.html ?? ''}`) > 0;
    const charset = isBroken ? 'windows-1252' : 'utf-8';
    this.#notices.push({ code: 'charset_guessed', text: `Nobody knows the charset ${unknown.name}. The mail was read as ${charset}.` });
    return isBroken ? await parse(bytes) : mail;
  }

  /** Whether an attachment is a file of a kind that is read. */
  async #readFile({ mimeType, filename }: Attachment, bytes: Uint8Array): Promise<boolean> {
    const found = await this.#readEmbedded({ name: filename ?? mimeType, mediaType: mimeType, bytes });
    if (!found) return false;
    this.attached.push(found.text);
    this.#notices.push(...found.notices);
    return true;
  }

  /** The text of an attachment that is a mail or an invitation; undefined if it is neither, or is damaged. */
  async #readPart(attachment: Attachment, bytes: Uint8Array, depth: number): Promise<string | undefined> {
    const { mimeType, filename } = attachment;
    if (mimeType === 'text/calendar' || /\.ics$/i.test(filename ?? '')) return readEvents(bytes);
    if (reports.test(mimeType)) return decodeText(bytes, undefined).text;
    if (!isMail(attachment) || depth >= maxMailDepth) return undefined;
    try {
      return await this.read(bytes, depth + 1);
    } catch (error) {
      if (error instanceof ServiceError) return undefined;
      throw error;
    }
  }
}

function isMail({ mimeType, filename }: Attachment): boolean {
  return mimeType === 'message/rfc822' || mimeType === 'message/global' || /\.eml$/i.test(filename ?? '');
}

function bytesOf({ content }: Attachment): Uint8Array {
  const bytes = typeof content === 'string' ? Buffer.from(content) : Buffer.from(new Uint8Array(content));
  // The parser does not know `Content-Transfer-Encoding: x-uuencode`. A text with such a file in it is not one.
  const { text, files } = takeUuencoded(bytes.toString('latin1', 0, 6) === 'begin ' ? bytes.toString('latin1') : '');
  return files[0] && files.length === 1 && text.trim() === '' ? files[0].bytes : bytes;
}

function toAttachment({ name, bytes }: UuencodedFile): Attachment {
  return { filename: name, mimeType: 'application/octet-stream', disposition: 'attachment', content: new Uint8Array(bytes).buffer };
}

function headOf(mail: Email): string {
  const head = [
    line('Subject', mail.subject),
    line('From', mail.from && name(mail.from)),
    line('To', mail.to?.map(name).join(', ')),
    line('Cc', mail.cc?.map(name).join(', ')),
    line('Date', mail.date),
  ];
  return head.join('');
}

/** The plain text, the page beside it if that says more, or both if they say different things. */
function bodyOf(mail: Email, plain: string): string {
  if (mail.html === undefined) return plain;
  const page = { bytes: Buffer.from(mail.html), mediaType: 'text/html', charset: 'utf-8' };
  const html = withoutMarks(readHtmlPart(page).text).trim();
  const isShort = signsOf(plain) < signsOf(html) * stubShare;
  const words = plain.replace(addresses, '');
  const isOther = isShort ? !isStub(words) && shareMissing(words, html) > otherShare : shareMissing(html, plain) > otherShare;
  if (isOther) return `${plain}\n\n${html}`;
  return isShort ? html : plain || html;
}

/** Whether a short text without its addresses of links only says that there is a page. Such a text has no numbers. */
function isStub(text: string): boolean {
  return namesPage.test(text) && !/\p{N}/u.test(text);
}

/** What share of the words of one text another does not have; 0 for a text without words. */
function shareMissing(text: string, other: string): number {
  const words = new Set(wordsOf(text));
  const had = new Set(wordsOf(other));
  return words.size === 0 ? 0 : words.difference(had).size / words.size;
}

/** How many letters and digits there are, besides addresses of links. */
function signsOf(text: string): number {
  return text.replace(addresses, '').replace(/[^\p{L}\p{N}]+/gu, '').length;
}

function line(label: string, value: string | undefined): string {
  return value ? `${label}: ${value.replace(/\s+/g, ' ')}\n` : '';
}

function name(address: Address): string {
  if (address.group) return `${address.name}: ${address.group.map(name).join(', ')}`;
  return address.name && address.name !== address.address ? `${address.name} <${address.address}>` : (address.address ?? '');
}
