import type { RequestHandler } from 'express';
import type { z } from 'zod';
import { maxSeconds, outlineHeader, seconds, secondsHeader } from '../../contract/ai-service/extract.ts';
import type { aiService } from '../../contract/ai-service/index.ts';
import { type ExtractedText, isImage, maxWrappedBytes, parseMediaType } from '../formats/document.ts';
import { type ExtractDependencies, type ReadUpload, readPictures, readUpload } from '../formats/extract-document.ts';
import type { Deadline } from '../formats/pdf/read-scanned-pages.ts';
import { readBody } from '../http/body.ts';
import { Bulkhead, requestSignal } from '../http/in-flight.ts';
import { ProgressLines } from '../http/progress-lines.ts';
import { ServiceError } from '../service-error.ts';

/**
 * The bounds for uploads in memory. Text recognition takes long, so uploads that need it must leave capacity to the others.
 */
interface ExtractBulkheads {
  uploads: Bulkhead;
  /** The bound for uploads that were sent as images. */
  images: Bulkhead;
  /** The bound for the text recognition of uploads whose pictures were found while they were read. They wait with their bytes. */
  scans: Bulkhead;
}

type Dependencies = ExtractDependencies & { bulkheads: ExtractBulkheads };
type Extracted = z.input<(typeof aiService.extract.responses)[200]>;

/**
 * POST /v1/extract: raw bytes with their media type, or the base64 form. Reports progress for scanned pages, if the caller accepts lines.
 */
export function extractRoute({ readers, ...rest }: ExtractDependencies & { readers: number }): RequestHandler {
  const deps = { ...rest, bulkheads: createBulkheads(readers) };
  const { maxUploadBytes } = deps.config;
  return async (request, response) => {
    const contentType = request.get('content-type');
    const mayBeWrapped = /^\s*(?:application|text)\/json\b/i.test(contentType ?? '');
    const maxBytes = mayBeWrapped ? maxWrappedBytes(maxUploadBytes) : maxUploadBytes;
    const signal = requestSignal(response);
    const within = deadlineIn(request.get(secondsHeader));
    const lines = new ProgressLines(request, response);
    await lines.end(async (): Promise<Extracted> => {
      const { outline, ...extracted } = await extract(
        deps,
        { contentType, within, signal },
        () => readBody(request, maxBytes),
        lines.report,
      );
      return request.get(outlineHeader) === 'true' ? { ...extracted, outline } : extracted;
    });
  };
}

/** The time that a caller has, from now on. Throws ServiceError 422 `invalid_request`. */
function deadlineIn(header: string | undefined): Deadline {
  const read = seconds.safeParse(header);
  if (!read.success)
    throw new ServiceError(422, 'invalid_request', `The header ${secondsHeader} must be a whole number from 1 to ${maxSeconds}.`);
  return { seconds: read.data, endsAt: performance.now() + read.data * 1000 };
}

/** Bounds how many uploads `readers` processes have around them. */
function createBulkheads(readers: number): ExtractBulkheads {
  return {
    // A few more than there are readers, so that the next one is ready when a reader is free.
    uploads: new Bulkhead(readers * 2 + 2, 512),
    images: new Bulkhead(Math.ceil(readers / 2) + 1, 512),
    scans: new Bulkhead(readers, readers),
  };
}

async function extract(
  { bulkheads, ...deps }: Dependencies,
  { contentType, within, signal }: { contentType: string | undefined; within: Deadline; signal: AbortSignal },
  receive: () => Promise<Uint8Array>,
  onProgress: ProgressLines['report'],
): Promise<ExtractedText> {
  const read = async () => readUpload(deps, await receive(), contentType, signal);
  const finish = async (upload: ReadUpload) =>
    upload.kind === 'text' ? upload.extracted : await readPictures(deps, upload, within, signal, onProgress);
  if (isImage(parseMediaType(contentType).mediaType)) return await bulkheads.images.run(signal, async () => finish(await read()));
  const upload = await bulkheads.uploads.run(signal, read);
  return upload.kind === 'text' ? upload.extracted : await bulkheads.scans.run(signal, () => finish(upload));
}
