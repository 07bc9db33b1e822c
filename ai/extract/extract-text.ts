import { countCharacters } from '../characters.ts';
import { ServiceError } from '../service-error.ts';
import { cleanText, cutText } from './clean-text.ts';
import { decodeText } from './decode-text.ts';
import { readHtml } from './read-html.ts';
import { readPdf } from './read-pdf.ts';
import type { ExtractedText, ExtractLimits, RawText, SourceDocument } from './types.ts';

type Reader = (document: SourceDocument, limits: ExtractLimits) => RawText | Promise<RawText>;

const readPlain: Reader = ({ bytes, charset }) => ({ text: decodeText(bytes, charset), pages: null });

const readers: Record<string, Reader> = {
  'application/pdf': readPdf,
  'text/html': readHtml,
  'text/plain': readPlain,
  'text/markdown': readPlain,
  'text/csv': readPlain,
  'application/json': readPlain,
};

/** Whether `extractText` reads this media type (parameters removed). Images go through OCR instead. */
export function isReadable(mediaType: string): boolean {
  return Object.hasOwn(readers, mediaType);
}

/** Extracts the text of a document that is no image. Throws ServiceError: 413, 415 `unsupported_type`, 422. */
export async function extractText(document: SourceDocument, limits: ExtractLimits): Promise<ExtractedText> {
  const reader = isReadable(document.mediaType) ? readers[document.mediaType] : undefined;
  if (!reader) throw new ServiceError(415, 'unsupported_type', 'Documents of this type cannot be read.');
  if (document.bytes.length === 0) throw new ServiceError(422, 'empty_document', 'The document is empty.');
  return finish(await reader(document, limits), document.mediaType, limits.maxTextCharacters);
}

/** Cleans and cuts what a reader found, and counts it. */
export function finish(raw: RawText, mediaType: string, maxTextCharacters: number): ExtractedText {
  const { text, truncated } = cutText(cleanText(raw.text), maxTextCharacters);
  return {
    text,
    characters: countCharacters(text),
    pages: raw.pages,
    truncated: truncated || raw.stoppedEarly === true,
    content_type: mediaType,
  };
}
