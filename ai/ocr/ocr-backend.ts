import type { RawText, SourceDocument } from '../extract/types.ts';

/** What reads the text in an image. Throws ServiceError: 415 for an image it cannot read, 502 for a failure or timeout. */
export interface OcrBackend {
  name: 'local' | 'remote';
  read(image: SourceDocument, signal: AbortSignal): Promise<RawText>;
}
