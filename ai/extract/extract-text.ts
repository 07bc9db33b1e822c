import { countCharacters, endOfCharacters } from '../characters.ts';
import { ServiceError } from '../service-error.ts';
import { decodeText } from './decode-text.ts';
import type { ExtractedText, ExtractLimits, RawText, SourceDocument } from './document.ts';
import { readDocx } from './kinds/read-docx.ts';
import { readEml } from './kinds/read-eml.ts';
import { readEpub } from './kinds/read-epub.ts';
import { readOdt } from './kinds/read-odt.ts';
import { readPptx } from './kinds/read-pptx.ts';
import { readRtf } from './kinds/read-rtf.ts';
import { readXlsx } from './kinds/read-xlsx.ts';
import { findMarkdownHeadings } from './markdown-headings.ts';
import { findPageStarts, joinPages, locateHeadings } from './outline.ts';
import { readHtml } from './read-html.ts';
import { readPdf } from './read-pdf.ts';

type Reader = (document: SourceDocument, limits: ExtractLimits) => RawText | Promise<RawText>;

const readPlain: Reader = ({ bytes, charset }) => ({ text: decodeText(bytes, charset), pages: null });

const readMarkdown: Reader = ({ bytes, charset }) => {
  const text = decodeText(bytes, charset);
  return { text, pages: null, headings: findMarkdownHeadings(text) };
};

const readers: Record<string, Reader> = {
  'application/pdf': readPdf,
  'text/html': readHtml,
  'text/plain': readPlain,
  'text/markdown': readMarkdown,
  'text/csv': readPlain,
  'application/json': readPlain,
};

/** The readers of the kinds that a deployment turns on. */
const extraReaders: Record<string, Reader> = {
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': readDocx,
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': readPptx,
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': readXlsx,
  'application/vnd.oasis.opendocument.text': readOdt,
  'application/epub+zip': readEpub,
  'message/rfc822': readEml,
  'application/rtf': readRtf,
};

/** The reader of a media type (parameters removed), if this deployment reads it. Images go through OCR instead. */
function readerOf(mediaType: string, extra: readonly string[] = []): Reader | undefined {
  if (Object.hasOwn(readers, mediaType)) return readers[mediaType];
  return extra.includes(mediaType) ? extraReaders[mediaType] : undefined;
}

/** Extracts the text of a document that is not an image. Throws ServiceError: 413, 415 `unsupported_type`, 422. */
export async function extractText(document: SourceDocument, limits: ExtractLimits): Promise<ExtractedText> {
  const reader = readerOf(document.mediaType, limits.extraContentTypes);
  if (!reader) throw new ServiceError(415, 'unsupported_type', 'Documents of this type cannot be read.');
  if (document.bytes.length === 0) throw new ServiceError(422, 'empty_document', 'The document is empty.');
  return finish(await reader(document, limits), document.mediaType, limits.maxTextCharacters);
}

/** Cleans, cuts and counts what a reader returned. */
export function finish(raw: RawText, mediaType: string, maxTextCharacters: number): ExtractedText {
  const pages = raw.pageTexts?.map(cleanText);
  const { text, truncated } = cutText(pages ? joinPages(pages) : cleanText(raw.text), maxTextCharacters);
  const characters = countCharacters(text);
  const headings = (raw.headings ?? []).map((heading) => ({ ...heading, line: cleanText(heading.line), title: cleanText(heading.title) }));
  const pageStarts = pages ? findPageStarts(pages, characters) : null;
  return {
    text,
    characters,
    pages: raw.pages,
    truncated: truncated || raw.stoppedEarly === true,
    content_type: mediaType,
    outline: { page_starts: pageStarts, headings: locateHeadings(text, headings, pageStarts) },
    ...(raw.ocrPages ? { ocr_pages: raw.ocrPages } : {}),
    ...(raw.ocrConfidence?.some((one) => one !== null) ? { ocr_confidence: raw.ocrConfidence } : {}),
  };
}

const lineEnds = /\r\n?|[\u0085\u2028]/g;
const paragraphEnds = /[\u2029\f\v]/g;
// Characters that Postgres refuses (NUL) or no reader wants: control characters except tab and line feed, byte order marks, lone
// surrogates, and noncharacters, with one of which PDFium marks the hyphen of a word that it has joined.
const unwanted = /[[\p{Cc}\p{Surrogate}\ufeff\ufffe\uffff]--[\t\n]]/gv;

/** Makes text storable: line ends are `\n`, and there are no other control characters except tab, and no lone surrogates. */
function cleanText(text: string): string {
  return text.replace(lineEnds, '\n').replace(paragraphEnds, '\n\n').replace(unwanted, '');
}

/** Cuts to at most `max` characters, which are code points. */
function cutText(text: string, max: number): { text: string; truncated: boolean } {
  const end = endOfCharacters(text, max);
  return { text: text.slice(0, end), truncated: end < text.length };
}
