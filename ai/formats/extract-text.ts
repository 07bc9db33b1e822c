import { stripVTControlCharacters } from 'node:util';
import { countCharacters, endOfCharacters } from '../characters.ts';
import { ServiceError } from '../service-error.ts';
import type { ExtractedText, ExtractLimits, RawText, SourceDocument } from './document.ts';
import { locateLines } from './locate-lines.ts';
import { maxNoticeCharacters, maxNotices, type Notice, noticesOfPages } from './notice.ts';
import { findPageStarts, joinPages, locateHeadings, maxHeadings, withoutMarks } from './outline.ts';
import { embeddedReader } from './read-embedded.ts';
import { readerOf } from './readers.ts';
import { checkContent } from './recognize-content.ts';

/** Extracts the text of a document that is not an image. Throws ServiceError: 413, 415 `unsupported_type`, 422. */
export async function extractText(document: SourceDocument, limits: ExtractLimits): Promise<ExtractedText> {
  const load = readerOf(document.mediaType, limits.extraContentTypes);
  if (!load) throw new ServiceError(415, 'unsupported_type', 'Documents of this type cannot be read.');
  if (document.bytes.length === 0) throw new ServiceError(422, 'empty_document', 'The document is empty.');
  checkContent(document);
  const reader = await load();
  return finish(await reader(document, limits, embeddedReader(limits)), document.mediaType, limits.maxTextCharacters);
}

/** Cleans, cuts and counts the text of a reader. */
export function finish(raw: RawText, mediaType: string, maxTextCharacters: number): ExtractedText {
  const marked = (raw.pageTexts ?? [raw.text]).map(cleanText);
  const parts = [...marked, ...(raw.attached ?? []).map(cleanText)];
  const plain = parts.map(withoutMarks);
  const { text, truncated } = cutText(joinPages(plain), maxTextCharacters);
  const characters = countCharacters(text);
  const starts = findPageStarts(plain, characters);
  const headings = parts.flatMap((part, index) => locateHeadings(part, starts[index] ?? 0, characters));
  const pages = raw.pageTexts ? { page_starts: starts.slice(0, marked.length), pages_end: starts[marked.length] } : { page_starts: null };
  const lines = locateLines(plain, starts, raw.pageLines ?? []).filter(([, end]) => end <= characters);
  const last = starts.filter((start) => start < characters).length;
  const place = raw.pageTexts && last <= marked.length ? `, on page ${last} of ${raw.pages}` : '';
  const cut: Notice = { code: 'text_cut', text: `The text was cut after ${characters} characters${place}: MAX_TEXT_CHARACTERS.` };
  const notices = boundNotices([...(truncated ? [cut] : []), ...(raw.notices ?? []), ...noticesOfPages(raw.pageNotices ?? [])]);
  return {
    text,
    characters,
    pages: raw.pages,
    truncated: truncated || raw.stoppedEarly === true,
    content_type: mediaType,
    outline: { ...pages, headings: headings.slice(0, maxHeadings), ...(lines.length > 0 ? { lines } : {}) },
    ...(raw.ocrPages ? { ocr_pages: raw.ocrPages } : {}),
    ...(raw.ocrConfidence?.some((one) => one !== null) ? { ocr_confidence: raw.ocrConfidence } : {}),
    ...(notices.length > 0 ? { notices } : {}),
  };
}

/** A letter that another one is set upon, as manuals for terminals are in bold type. */
const overstruck = /.[\b]/gu;
const lineEnds = /\r\n?|[\u0085\u2028]/g;
const paragraphEnds = /[\u2029\f\v]/g;
// Characters that Postgres refuses (NUL) or no reader wants: control characters except tab and line feed, byte order marks, lone
// surrogates, and noncharacters, with one of which PDFium marks the hyphen of a word that it has joined.
const unwanted = /[[\p{Cc}\p{Surrogate}\ufeff\ufffe\uffff]--[\t\n]]/gv;
// Where a line may end within a word, or may not: soft hyphens, word joiners, spaces of no width. Such a space says where a word
// ends in scripts that write no other. Joiners of letters (ZWJ, ZWNJ) stay: they are part of how words are spelled.
const lineHints = /[\u00ad\u2060]|\u200b(?<![\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]\p{M}*.)/gv;

/**
 * Makes text storable: line ends are `\n`, and there are no codes of terminals, no other control characters except tab, and no lone
 * surrogates. The marks of headings stay.
 */
function cleanText(text: string): string {
  return stripVTControlCharacters(text)
    .replace(overstruck, '')
    .replace(lineEnds, '\n')
    .replace(paragraphEnds, '\n\n')
    .replace(unwanted, '')
    .replace(lineHints, '');
}

/** Makes notices storable and bounds them, since they may quote the document, such as the name of a file within it. */
function boundNotices(notices: Notice[]): Notice[] {
  return notices.slice(0, maxNotices).map(({ code, text }) => ({ code, text: cutText(cleanText(text), maxNoticeCharacters).text }));
}

/** Cuts to at most `max` characters, which are code points. */
function cutText(text: string, max: number): { text: string; truncated: boolean } {
  const end = endOfCharacters(text, max);
  return { text: text.slice(0, end), truncated: end < text.length };
}
