import { MIMEType } from 'node:util';
import { ServiceError } from '../service-error.ts';
import type { RecognizedLine } from './locate-lines.ts';
import type { Notice, NoticeCode } from './notice.ts';
import type { Outline } from './outline.ts';

/** The limits of one extraction. */
export interface ExtractLimits {
  maxUploadBytes: number;
  maxTextCharacters: number;
  maxPdfPages: number;
  /** Whether text recognition reads the scanned pages of a PDF. */
  readsScannedPdfs?: boolean;
  /** The media types that are read beside those that every deployment reads. */
  extraContentTypes?: readonly string[];
}

/** A document whose text is to be extracted. */
export interface SourceDocument {
  bytes: Uint8Array;
  /** Media type in lower case, without parameters. */
  mediaType: string;
  /** The `charset` parameter, if one was given. */
  charset: string | undefined;
}

/** The result of a media type's reader, before it is cleaned and cut. `markHeading` marks its headings. */
export interface RawText {
  text: string;
  pages: number | null;
  /** The text of each page that was read, of which `text` is made by `joinPages`; absent for kinds without pages. */
  pageTexts?: string[];
  /** The texts of what the document holds beside its pages or text, such as files. */
  attached?: string[];
  /** The reader stopped before the end, because it had enough text. */
  stoppedEarly?: boolean;
  /** How many of the pages of a PDF have text that was recognized. */
  ocrPages?: number;
  /** How sure text recognition was of each page, in percent; null for those that have nothing of it. */
  ocrConfidence?: (number | null)[];
  /** The lines of each page that the local text recognition has read; empty for others. */
  pageLines?: RecognizedLine[][];
  /** What the reader left out or had to guess. */
  notices?: Notice[];
  /** The same of single pages, in their order. */
  pageNotices?: NoticeCode[][];
}

/** The response of `/v1/extract`. `characters` counts the Unicode code points of `text`. */
export interface ExtractedText {
  text: string;
  characters: number;
  pages: number | null;
  truncated: boolean;
  content_type: string;
  /** Sent only if the request asks for it. */
  outline: Outline;
  /** How many of the pages text recognition has read; absent if none. */
  ocr_pages?: number;
  /** How sure it was of each page, in percent; absent if it was of none. */
  ocr_confidence?: (number | null)[];
  /** What was left out or had to be guessed; absent if there is nothing to say. */
  notices?: Notice[];
}

const aliases: Record<string, string> = {
  'application/x-pdf': 'application/pdf',
  'text/x-markdown': 'text/markdown',
  'application/csv': 'text/csv',
  'text/json': 'application/json',
  'application/xhtml+xml': 'text/html',
  'text/rtf': 'application/rtf',
  'image/jpg': 'image/jpeg',
  'image/x-ms-bmp': 'image/bmp',
};

/** A parsed `Content-Type` header: the type in lower case, and the charset parameter if there is one. */
interface MediaType {
  mediaType: string;
  charset: string | undefined;
}

/** Parses a media type. Throws ServiceError 415 `unsupported_type` for a missing or malformed one. */
export function parseMediaType(header: string | undefined): MediaType {
  try {
    const parsed = new MIMEType(header ?? '');
    return { mediaType: aliases[parsed.essence] ?? parsed.essence, charset: parsed.params.get('charset')?.trim() || undefined };
  } catch {
    throw new ServiceError(415, 'unsupported_type', 'The document has no valid media type.');
  }
}

/** Whether OCR reads this type, rather than the extractor. */
export function isImage(mediaType: string): boolean {
  return mediaType.startsWith('image/');
}

const base64 = /^[A-Za-z0-9+/\s]*(?:={1,2}\s*)?$/;
const looksWrapped = /^\s*\{\s*"file"\s*:[\s\S]{0,2000}"data_base64"/;

/**
 * Reads the document of a request to `/v1/extract`: its bytes, or JSON `{ file: { name, content_type, data_base64 } }` around them.
 * `application/json` without `file.data_base64` is itself the document. Throws ServiceError 400, 413, 415 or 422.
 */
export function unwrapUpload(body: Uint8Array, contentType: string | undefined, maxUploadBytes: number): SourceDocument {
  const { mediaType, charset } = parseMediaType(contentType);
  const file = mediaType === 'application/json' ? wrappedFile(body) : undefined;
  if (!file) return { bytes: withinLimit(body, maxUploadBytes), mediaType, charset };
  if (typeof file.data_base64 !== 'string') throw invalid('file.data_base64 must be a string.');
  if (typeof file.content_type !== 'string') throw invalid('file.content_type must be the media type of the document.');
  if (file.name !== undefined && typeof file.name !== 'string') throw invalid('file.name must be a string.');
  if (!base64.test(file.data_base64)) throw new ServiceError(400, 'invalid_base64', 'file.data_base64 is not valid base64.');
  const bytes = Buffer.from(file.data_base64, 'base64');
  return { bytes: withinLimit(bytes, maxUploadBytes), ...parseMediaType(file.content_type) };
}

/** The longest body that can hold `maxUploadBytes` in base64, with room for line ends and the other fields. */
export function maxWrappedBytes(maxUploadBytes: number): number {
  return Math.ceil(maxUploadBytes / 3) * 4 + Math.ceil(maxUploadBytes / 24) + 64 * 1024;
}

function wrappedFile(body: Uint8Array): { name?: unknown; content_type?: unknown; data_base64?: unknown } | undefined {
  const text = new TextDecoder().decode(body);
  try {
    const parsed: unknown = JSON.parse(text);
    const file = isObject(parsed) ? parsed.file : undefined;
    return isObject(file) && 'data_base64' in file ? file : undefined;
  } catch {
    // An invalid JSON document is still readable text; a wrapped upload that was cut off is not.
    if (looksWrapped.test(text.slice(0, 4096))) throw new ServiceError(400, 'malformed_json', 'The body is not valid JSON.');
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function withinLimit(bytes: Uint8Array, maxUploadBytes: number): Uint8Array {
  if (bytes.length <= maxUploadBytes) return bytes;
  throw new ServiceError(413, 'too_large', `The document is larger than the ${maxUploadBytes} bytes that this service accepts.`);
}

function invalid(message: string): ServiceError {
  return new ServiceError(422, 'invalid_request', message);
}
