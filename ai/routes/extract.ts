import type { RequestHandler } from 'express';
import type { ExtractDependencies } from '../extract/extract-document.ts';
import { extractDocument } from '../extract/extract-document.ts';
import { maxWrappedBytes } from '../extract/unwrap-upload.ts';
import type { Bulkhead } from '../http/bulkhead.ts';
import { readBody } from '../http/read-body.ts';
import { requestSignal } from '../http/request-signal.ts';

/** POST /v1/extract: raw bytes with their media type, or the base64 form. */
export function extractRoute(deps: ExtractDependencies & { bulkhead: Bulkhead }): RequestHandler {
  const { maxUploadBytes } = deps.config;
  return async (request, response) => {
    const contentType = request.get('content-type');
    const mayBeWrapped = /^\s*(?:application|text)\/json\b/i.test(contentType ?? '');
    const maxBytes = mayBeWrapped ? maxWrappedBytes(maxUploadBytes) : maxUploadBytes;
    const signal = requestSignal(response);
    const extracted = await deps.bulkhead.run(signal, async () => {
      const body = await readBody(request, maxBytes);
      return await extractDocument(deps, body, contentType, signal);
    });
    response.json(extracted);
  };
}
