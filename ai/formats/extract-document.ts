import type { AiServiceConfig } from '../../base/config/ai-service.ts';
import type { Ocr, OcrBackend } from '../recognition/backends.ts';
import type { ProcessPool } from '../sandbox/process-pool.ts';
import { TaskFailure } from '../sandbox/protocol.ts';
import { ServiceError } from '../service-error.ts';
import type { ExtractOutcome, PageTask } from './child.ts';
import { type ExtractedText, isImage, parseMediaType, type RawText } from './document.ts';
import { finish } from './extract-text.ts';
import { type Deadline, readScannedPages, type ScanProgress } from './pdf/read-scanned-pages.ts';

/** The dependencies of `/v1/extract`. */
export interface ExtractDependencies {
  config: AiServiceConfig;
  pool: ProcessPool;
  ocr: Pick<Ocr, 'backend' | 'problem'>;
}

/** The contents of an upload: its text, or pictures of text. */
export type ReadUpload = { kind: 'text'; extracted: ExtractedText } | Pictures;

/** An image, or a PDF of which some pages are images. */
type Pictures = Exclude<ExtractOutcome, { kind: 'text' }>;

/**
 * Reads one upload within EXTRACT_TIMEOUT_SECONDS, in a process that is killed if it takes longer. Throws ServiceError: 408, 413, 415 and
 * 422 are final; 503 is not.
 */
export async function readUpload(
  { config, pool }: ExtractDependencies,
  body: Uint8Array,
  contentType: string | undefined,
  signal: AbortSignal,
): Promise<ReadUpload> {
  const { mediaType, charset } = parseMediaType(contentType);
  if (isImage(mediaType)) return { kind: 'image', image: { bytes: body, mediaType, charset } };
  return await runExtraction(pool, config, { body, contentType }, signal);
}

/**
 * Reads the text in the pictures of an upload, scanned pages `within` the time that the caller has; `onProgress` is called for each. Throws
 * ServiceError: 408, 413, 415 and 422 are final; 502 and 503 are not.
 */
export async function readPictures(
  deps: ExtractDependencies,
  pictures: Pictures,
  within: Deadline,
  signal: AbortSignal,
  onProgress?: (progress: ScanProgress) => void,
): Promise<ExtractedText> {
  const { maxTextCharacters } = deps.config;
  const backend = deps.ocr.backend() ?? noBackend(deps.ocr);
  if (pictures.kind === 'scan')
    return finish(await recognizePages(deps, backend, pictures, within, signal, onProgress), 'application/pdf', maxTextCharacters);
  return finish(await backend.read(pictures.image, signal), pictures.image.mediaType, maxTextCharacters);
}

/** Final: if text recognition cannot run, for example because of missing data, an operator must fix it. */
function noBackend({ problem }: ExtractDependencies['ocr']): never {
  const reason = problem() === null ? 'this deployment has no text recognition' : 'the text recognition of this deployment does not run';
  throw new ServiceError(415, 'ocr_unavailable', `Images cannot be read: ${reason}.`);
}

function recognizePages(
  { config, pool }: ExtractDependencies,
  backend: OcrBackend,
  { document, found }: Extract<Pictures, { kind: 'scan' }>,
  deadline: Deadline,
  signal: AbortSignal,
  onProgress: ((progress: ScanProgress) => void) | undefined,
): Promise<RawText> {
  const { extractTimeoutMs, maxTextCharacters } = config;
  const render = (index: number, within: AbortSignal) => {
    const hasText = (found.texts[index] ?? '') !== '' && !found.unmapped.includes(index);
    const task: PageTask = { bytes: document.bytes, index, withoutText: hasText };
    return runReader<Uint8Array>(pool, 'renderPage', task, extractTimeoutMs, within);
  };
  const recognize: OcrBackend['read'] = (image, within) => backend.read(image, within);
  return readScannedPages(found, { deadline, maxTextCharacters, render, recognize, onProgress }, signal);
}

function runExtraction(
  pool: ProcessPool,
  { maxUploadBytes, maxTextCharacters, maxPdfPages, readsScannedPdfs, extraContentTypes, extractTimeoutMs }: AiServiceConfig,
  upload: { body: Uint8Array; contentType: string | undefined },
  signal: AbortSignal,
): Promise<ExtractOutcome> {
  const limits = {
    maxUploadBytes,
    maxTextCharacters,
    maxPdfPages,
    extraContentTypes,
    readsScannedPdfs,
  };
  return runReader<ExtractOutcome>(pool, 'extract', { ...upload, limits }, extractTimeoutMs, signal);
}

async function runReader<T>(pool: ProcessPool, task: string, payload: unknown, timeoutMs: number, signal: AbortSignal): Promise<T> {
  try {
    return await pool.run<T>(task, payload, { timeoutMs, signal });
  } catch (error) {
    throw error instanceof TaskFailure ? explain(error, timeoutMs) : error;
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
