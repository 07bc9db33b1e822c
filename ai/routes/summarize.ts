import type { RequestHandler } from 'express';
import { z } from 'zod';
import { countCharacters } from '../characters.ts';
import { readJson } from '../http/read-json.ts';
import { requestSignal } from '../http/request-signal.ts';
import type { Provider } from '../providers/provider.ts';
import { ServiceError } from '../service-error.ts';

/** Body of POST /v1/summarize. */
export const summarizeRequest = z.object({
  text: z.string().min(1),
  max_sentences: z.int().min(1).max(50).default(5),
});

/** POST /v1/summarize: 413 for a text over MAX_TEXT_CHARACTERS. */
export function summarizeRoute(provider: Provider, maxTextCharacters: number): RequestHandler {
  // JSON may spend twelve bytes on a character.
  const maxBytes = maxTextCharacters * 12 + 64 * 1024;
  return async (request, response) => {
    const { text, max_sentences } = await readJson(request, summarizeRequest, maxBytes);
    const characters = countCharacters(text);
    if (characters > maxTextCharacters) {
      throw new ServiceError(413, 'text_too_long', `The text has ${characters} characters; at most ${maxTextCharacters} are summarized.`);
    }
    response.json(await provider.summarize(text, max_sentences, requestSignal(response)));
  };
}
