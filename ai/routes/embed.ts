import type { RequestHandler } from 'express';
import { z } from 'zod';
import { readJson } from '../http/read-json.ts';
import { requestSignal } from '../http/request-signal.ts';
import type { Provider } from '../providers/provider.ts';
import { ServiceError } from '../service-error.ts';

export const maxTexts = 64;
export const maxTextLength = 8000;

/** Body of POST /v1/embed. */
export const embedRequest = z.object({ texts: z.array(z.string()).min(1).max(maxTexts) });

/** POST /v1/embed: 1 to 64 texts of at most 8,000 characters, answered in their order (spec §4). */
export function embedRoute(provider: Provider): RequestHandler {
  const maxBytes = maxTexts * maxTextLength * 6 + 64 * 1024;
  return async (request, response) => {
    const { texts } = await readJson(request, embedRequest, maxBytes);
    const tooLong = texts.findIndex((text) => text.length > maxTextLength);
    if (tooLong >= 0) {
      throw new ServiceError(413, 'text_too_long', `Text ${tooLong} is longer than the ${maxTextLength} characters that are embedded.`);
    }
    response.json(await provider.embed(texts, requestSignal(response)));
  };
}
