import { MIMEType } from 'node:util';
import { ServiceError } from '../service-error.ts';

const aliases: Record<string, string> = {
  'application/x-pdf': 'application/pdf',
  'text/x-markdown': 'text/markdown',
  'application/csv': 'text/csv',
  'text/json': 'application/json',
  'application/xhtml+xml': 'text/html',
  'image/jpg': 'image/jpeg',
  'image/x-ms-bmp': 'image/bmp',
};

/** A `Content-Type` header taken apart: lower case, the charset parameter if there is one. */
export interface MediaType {
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
