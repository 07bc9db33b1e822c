import type { RequestHandler } from 'express';
import type { z } from 'zod';
import type { AiServiceConfig } from '../../base/config/ai-service.ts';
import { type AiOperation, aiService } from '../../contract/ai-service/index.ts';
import { maxTexts } from '../../contract/ai-service/texts.ts';
import { maxPassages, maxTextLength } from '../../contract/ai-service/values.ts';
import { countCharacters } from '../characters.ts';
import { readJson } from '../http/body.ts';
import { requestSignal } from '../http/in-flight.ts';
import type { Provider } from '../providers.ts';
import { askReranker } from '../rerank/ask-reranker.ts';
import { ServiceError } from '../service-error.ts';
import { tellUsage } from '../usage.ts';

/** An escaped surrogate pair. */
const jsonBytesPerCharacter = 12;
/** Of what a body has beside its texts. */
const otherBytes = 64 * 1024;
/** Fifty long passages have a tenth of it. */
const maxAnswerBytes = 32 * 1024 * 1024;

/** The routes that take JSON. */
export function createJsonRoutes(
  { maxTextCharacters, remote }: Pick<AiServiceConfig, 'maxTextCharacters' | 'remote'>,
  provider: Provider,
): Record<Exclude<AiOperation, 'extract'>, RequestHandler> {
  const { summarize, embed, answer, rewrite, fields, rerank } = aiService;
  return {
    summarize: jsonRoute(summarize, bytesOf(maxTextCharacters), ({ text, max_sentences: maxSentences }, signal) => {
      checkLength([text], maxTextCharacters, 'summarized');
      return provider.summarize(text, maxSentences, signal);
    }),
    embed: jsonRoute(embed, bytesOf(maxTexts * maxTextLength), async ({ texts, encoding_format, model, dimensions }, signal) => {
      const tooLong = texts.findIndex((text) => countCharacters(text) > maxTextLength);
      if (tooLong >= 0)
        throw new ServiceError(413, 'text_too_long', `Text ${tooLong} is longer than the ${maxTextLength} characters that are embedded.`);
      const { vectors, ...rest } = await provider.embed(texts, signal, model === undefined ? undefined : { model, dimensions });
      return { ...rest, vectors: encoding_format === 'base64' ? vectors.map(toBase64) : vectors };
    }),
    answer: jsonRoute(answer, maxAnswerBytes, ({ max_sentences: maxSentences, embed_model: embedModel, ...question }, signal) =>
      provider.answer({ ...question, maxSentences, embedModel }, signal),
    ),
    rewrite: jsonRoute(rewrite, maxAnswerBytes, async (asked, signal) => ({ question: await provider.rewrite(asked, signal) })),
    fields: jsonRoute(fields, bytesOf(2 * maxTextCharacters) + 1024 * 1024, (asked, signal) => {
      const texts = asked.passages.map(({ text }) => text);
      checkLength(texts, maxTextCharacters, 'read for fields');
      return provider.fields(asked, signal);
    }),
    rerank: jsonRoute(rerank, bytesOf(maxPassages * maxTextLength), ({ query, documents }, signal) =>
      askReranker(remote.rerank, query, documents, signal),
    ),
  };
}

interface JsonRoute {
  body: z.ZodType;
  responses: { 200: z.ZodType };
}

/** A route of the contract: its body is checked, and what `work` returns has the form of its response. */
function jsonRoute<R extends JsonRoute>(
  { body }: R,
  maxBytes: number,
  work: (body: z.output<R['body']>, signal: AbortSignal) => Promise<z.input<R['responses'][200]>>,
): RequestHandler {
  return async (request, response) => {
    const worked = await work(await readJson<R['body']>(request, body, maxBytes), requestSignal(response));
    tellUsage(response).json(worked);
  };
}

/** How long the JSON of a text may be. */
function bytesOf(characters: number): number {
  return characters * jsonBytesPerCharacter + otherBytes;
}

function checkLength(texts: string[], maxCharacters: number, done: string): void {
  const characters = texts.reduce((sum, text) => sum + countCharacters(text), 0);
  if (characters <= maxCharacters) return;
  throw new ServiceError(413, 'text_too_long', `The text has ${characters} characters; at most ${maxCharacters} are ${done}.`);
}

function toBase64(vector: number[]): string {
  return Buffer.from(Float32Array.from(vector).buffer).toString('base64');
}
