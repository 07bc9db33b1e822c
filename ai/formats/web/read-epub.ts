import { posix } from 'node:path';
import { ServiceError } from '../../service-error.ts';
import type { ExtractLimits, RawText, SourceDocument } from '../document.ts';
import { Archive, damaged } from '../office/archive.ts';
import { minBesidePicture, noticesOfUnread, textInPictures } from '../office/attachments.ts';
import { localName, scanXml } from '../office/scan-xml.ts';
import { readHtmlPart } from './read-html.ts';

const kind = 'an EPUB book';
const container = 'META-INF/container.xml';
const encryption = 'META-INF/encryption.xml';
const picture = /<(?:\w+:)?(?:img|image)[\s>]/i;
const maxChapterBytes = 32 * 1024 * 1024;
/** The last one is of books that are older than EPUB. */
const chapterTypes = new Set(['application/xhtml+xml', 'text/html', 'text/x-oeb1-document']);

/**
 * Reads the chapters of a book in their order, each as a web page. Throws 422: `encrypted_document` if a chapter is locked,
 * `unreadable_document` if there is none.
 */
export async function readEpub({ bytes }: SourceDocument, { maxTextCharacters }: ExtractLimits): Promise<RawText> {
  const archive = await Archive.open(bytes, kind);
  if (!archive.has(container)) throw damaged(kind);
  let description = '';
  await scanXml(archive.readText(container), {
    open(name, attributes) {
      if (name.endsWith('rootfile')) description ||= attributes['full-path'] ?? '';
    },
  });
  if (!archive.has(description)) throw damaged(kind);
  const chapters = await listChapters(archive, description);
  if (chapters.length === 0) throw damaged(kind);
  const locked = archive.has(encryption) ? await listLocked(archive) : new Set<string>();
  const texts: string[] = [];
  let [length, pictures] = [0, 0];
  const toRaw = (stoppedEarly: boolean) => ({
    text: texts.filter((text) => text !== '').join('\n\n'),
    pages: null,
    stoppedEarly,
    notices: noticesOfUnread(length < minBesidePicture * pictures ? [textInPictures] : []),
  });
  for (const chapter of chapters) {
    if (locked.has(chapter)) throw new ServiceError(422, 'encrypted_document', 'The book is locked.');
    if (length > maxTextCharacters * 2) return toRaw(true);
    const page = { bytes: await archive.readWhole(chapter, maxChapterBytes), mediaType: 'text/html', charset: undefined };
    const { text } = readHtmlPart(page);
    texts.push(text.trim());
    length += text.length;
    if (picture.test(page.bytes.toString('latin1'))) pictures += 1;
  }
  return toRaw(false);
}

/** The files of the chapters that are in the archive, in the order of reading. A type says what a chapter is; some books have only a name. */
async function listChapters(archive: Archive, description: string): Promise<string[]> {
  const chapters = new Map<string, string>();
  const order: string[] = [];
  await scanXml(archive.readText(description), {
    open(name, attributes) {
      const { id = '', href = '', idref = '', 'media-type': type = '' } = attributes;
      if (localName(name) === 'itemref') order.push(idref);
      if (localName(name) !== 'item') return;
      const file = resolve(description, href);
      if (chapterTypes.has(type.trim().toLowerCase()) || /\.x?html?$/i.test(file)) chapters.set(id, file);
    },
  });
  return [...new Set(order.map((id) => chapters.get(id) ?? ''))].filter((file) => archive.has(file));
}

async function listLocked(archive: Archive): Promise<Set<string>> {
  const locked = new Set<string>();
  await scanXml(archive.readText(encryption), {
    open(name, { URI }) {
      if (name.endsWith('CipherReference') && URI !== undefined) locked.add(decode(URI));
    },
  });
  return locked;
}

/** A reference of a file as the name of another in the archive. One that leads out of it names none. */
function resolve(from: string, reference: string): string {
  return posix.join(posix.dirname(from), decode(reference.split(/[#?]/, 1).join('')));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
