import { extname } from 'node:path';
import { ServiceError } from '../service-error.ts';
import type { ExtractLimits, RawText } from './document.ts';
import type { EmbeddedFile, EmbeddedText, ReadEmbedded } from './embedded-file.ts';
import { type Notice, noticesOfPages } from './notice.ts';
import { markHeading, nestHeadings, withoutMarks } from './outline.ts';
import { readerOf } from './readers.ts';
import { checkContent } from './recognize-content.ts';

/** A file in a mail in a portfolio. */
const maxDepth = 3;
/** Of all files within a document together, also within each other. */
const maxFiles = 50;

const office = 'application/vnd.openxmlformats-officedocument';
const word = `${office}.wordprocessingml.document`;
const powerPoint = `${office}.presentationml.presentation`;
const excel = `${office}.spreadsheetml.sheet`;

/** The types of files by the ends of their names. */
const typesByEnd: Record<string, string> = {
  '.pdf': 'application/pdf',
  '.txt': 'text/plain',
  '.log': 'text/plain',
  '.md': 'text/markdown',
  '.csv': 'text/csv',
  '.html': 'text/html',
  '.htm': 'text/html',
  '.json': 'application/json',
  '.docx': word,
  '.docm': word,
  '.pptx': powerPoint,
  '.pptm': powerPoint,
  '.ppsx': powerPoint,
  '.xlsx': excel,
  '.xlsm': excel,
  '.odt': 'application/vnd.oasis.opendocument.text',
  '.epub': 'application/epub+zip',
  '.eml': 'message/rfc822',
  '.rtf': 'application/rtf',
};

/** What may still be read of the files within a document. */
interface Rest {
  files: number;
  bytes: number;
  characters: number;
}

/**
 * The reader of the files within one document: of the kinds that the deployment takes, as far as that needs no text recognition. They nest
 * at most 3 deep and are at most 50, with as many bytes and characters as a document.
 */
export function embeddedReader(limits: ExtractLimits): ReadEmbedded {
  return readerAt(0, limits, { files: maxFiles, bytes: limits.maxUploadBytes, characters: limits.maxTextCharacters });
}

function readerAt(depth: number, limits: ExtractLimits, rest: Rest): ReadEmbedded {
  return async (file) => {
    const mediaType = [file.mediaType, typesByEnd[extname(file.name).toLowerCase()]].find(
      (type) => type && readerOf(type, limits.extraContentTypes),
    );
    const load = mediaType && readerOf(mediaType, limits.extraContentTypes);
    const isTooMuch = depth >= maxDepth || rest.files <= 0 || rest.bytes < file.bytes.length || rest.characters <= 0;
    if (!load || isTooMuch) return undefined;
    rest.files -= 1;
    rest.bytes -= file.bytes.length;
    const document = { bytes: file.bytes, mediaType, charset: undefined };
    try {
      checkContent(document);
      const reader = await load();
      const found = toEmbeddedText(file, await reader(document, limits, readerAt(depth + 1, limits, rest)));
      rest.characters -= found?.text.length ?? 0;
      return found;
    } catch (error) {
      if (error instanceof ServiceError) return undefined;
      throw error;
    }
  };
}

function toEmbeddedText({ name }: EmbeddedFile, raw: RawText): EmbeddedText | undefined {
  const text = [raw.text, ...(raw.attached ?? [])].filter((part) => part.trim() !== '').join('\n\n');
  if (text === '') return undefined;
  const notices: Notice[] = [...(raw.notices ?? []), ...noticesOfPages(raw.pageNotices ?? [])];
  return {
    text: `${markHeading(1, withoutMarks(name))}\n\n${nestHeadings(text)}`,
    notices: notices.map(({ code, text }) =>
      code === 'scan_not_read'
        ? { code: 'part_not_read', text: `${name}: text in the pictures of a file within a document is not read.` }
        : { code, text: `${name}: ${text}` },
    ),
  };
}
