import type { RequestHandler } from 'express';
import { z } from 'zod';
import { countCharacters } from '../characters.ts';
import { readJson } from '../http/read-json.ts';
import { requestSignal } from '../http/request-signal.ts';
import type { Provider } from '../providers/provider.ts';
import { ServiceError } from '../service-error.ts';

export const maxTexts = 64;
export const maxTextLength = 8000;

/** Body of POST /v1/embed. */
export const embedRequest = z.object({
  texts: z.array(z.string()).min(1).max(maxTexts),
  encoding_format: z
    .enum(['float', 'base64'])
    .default('float')
    .describe('How a vector is answered: as numbers, or as the base64 of 32-bit floats, low byte first.'),
});

/**
 * POST /v1/embed: 1 to 64 texts of at most 8,000 characters, answered in their order. In base64 a vector is written and
 * read without its numbers becoming text.
 */
export function embedRoute(provider: Provider): RequestHandler {
  // JSON may spend twelve bytes on a character.
  const maxBytes = maxTexts * maxTextLength * 12 + 64 * 1024;
  return async (request, response) => {
    const { texts, encoding_format: format } = await readJson(request, embedRequest, maxBytes);
    const tooLong = texts.findIndex((text) => countCharacters(text) > maxTextLength);
    if (tooLong >= 0) {
      throw new ServiceError(413, 'text_too_long', `Text ${tooLong} is longer than the ${maxTextLength} characters that are embedded.`);
    }
    const { vectors, ...rest } = await provider.embed(texts, requestSignal(response));
    response.json({ ...rest, vectors: format === 'base64' ? vectors.map(toBase64) : vectors });
  };
}

function toBase64(vector: number[]): string {
  return Buffer.from(Float32Array.from(vector).buffer).toString('base64');
}
