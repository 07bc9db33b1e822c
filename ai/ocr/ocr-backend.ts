import type { RawText, SourceDocument } from '../extract/types.ts';
import { ServiceError } from '../service-error.ts';

/** What reads the text in an image. Throws ServiceError: 413, 415 for an image it cannot read, 502 for a failure or timeout. */
export interface OcrBackend {
  name: 'local' | 'remote';
  read(image: SourceDocument, signal: AbortSignal): Promise<RawText>;
}

/** Refuses an image of a type that a backend does not read. */
export function requireType(image: SourceDocument, types: ReadonlySet<string>): void {
  if (image.bytes.length === 0) throw new ServiceError(422, 'empty_document', 'The document is empty.');
  if (!types.has(image.mediaType))
    throw new ServiceError(415, 'unsupported_image', 'Images of this type cannot be read by this deployment.');
}

/** The timeout of the text recognition itself: an extraction as a whole may have less time. */
export function ocrTimeout(ocrTimeoutMs: number, extractTimeoutMs: number): ServiceError {
  if (extractTimeoutMs < ocrTimeoutMs) {
    return new ServiceError(408, 'extract_timeout', `The image could not be read within ${extractTimeoutMs / 1000} seconds.`);
  }
  return new ServiceError(502, 'ocr_timeout', `The text of the image was not recognized within ${ocrTimeoutMs / 1000} seconds.`);
}
