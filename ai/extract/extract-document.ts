import type { AiServiceConfig } from '../../config/ai-service.ts';
import type { OcrBackend } from '../ocr/backends.ts';
import type { ProcessPool } from '../pool/process-pool.ts';
import { TaskFailure } from '../pool/protocol.ts';
import { ServiceError } from '../service-error.ts';
import type { ExtractOutcome } from './child.ts';
import { type ExtractedText, isImage, parseMediaType } from './document.ts';
import { finish } from './extract-text.ts';

/** What `/v1/extract` works with. */
export interface ExtractDependencies {
  config: AiServiceConfig;
  pool: ProcessPool;
  /** Undefined if no OCR backend is usable. */
  ocr: () => OcrBackend | undefined;
}

/**
 * Extracts the text of one upload within EXTRACT_TIMEOUT_SECONDS, in a process that is killed if it takes longer. Throws
 * ServiceError: 408, 413, 415, 422 are final; 502 and 503 are not.
 */
export async function extractDocument(
  { config, pool, ocr }: ExtractDependencies,
  body: Uint8Array,
  contentType: string | undefined,
  signal: AbortSignal,
): Promise<ExtractedText> {
  const { mediaType, charset } = parseMediaType(contentType);
  const outcome: ExtractOutcome = isImage(mediaType)
    ? { kind: 'image', image: { bytes: body, mediaType, charset } }
    : await runExtraction(pool, config, { body, contentType }, signal);
  if (outcome.kind === 'text') return outcome.extracted;
  const backend = ocr();
  if (!backend) throw new ServiceError(415, 'ocr_unavailable', 'Images cannot be read: this deployment has no text recognition.');
  const raw = await backend.read(outcome.image, signal);
  return finish(raw, outcome.image.mediaType, config.maxTextCharacters);
}

async function runExtraction(
  pool: ProcessPool,
  { maxUploadBytes, maxTextCharacters, maxPdfPages, extractTimeoutMs }: AiServiceConfig,
  upload: { body: Uint8Array; contentType: string | undefined },
  signal: AbortSignal,
): Promise<ExtractOutcome> {
  const payload = { ...upload, limits: { maxUploadBytes, maxTextCharacters, maxPdfPages } };
  try {
    return await pool.run<ExtractOutcome>('extract', payload, { timeoutMs: extractTimeoutMs, signal });
  } catch (error) {
    throw error instanceof TaskFailure ? explain(error, extractTimeoutMs) : error;
  }
}

/** A document that kills its reader will do so again, so that is final; a reader killed from outside is worth a retry. */
function explain(failure: TaskFailure, timeoutMs: number): ServiceError {
  switch (failure.reason) {
    case 'timeout':
      return new ServiceError(408, 'extract_timeout', `The document could not be read within ${timeoutMs / 1000} seconds.`, {
        cause: failure,
      });
    case 'memory':
      return new ServiceError(422, 'unreadable_document', 'The document needs more memory than it may use.', { cause: failure });
    case 'deadly':
      return new ServiceError(422, 'unreadable_document', 'Reading the document was ended twice: it may need too much memory.', {
        cause: failure,
      });
    case 'crash':
      return new ServiceError(422, 'unreadable_document', 'The document could not be read: it is damaged.', { cause: failure });
    default:
      return new ServiceError(503, 'extraction_interrupted', 'The extraction was interrupted.', { cause: failure, retryAfterSeconds: 1 });
  }
}
