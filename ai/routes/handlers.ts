import type { RequestHandler } from 'express';
import { z } from 'zod';
import type { RemoteModelConfig } from '../../base/config/ai-service.ts';
import { countCharacters } from '../characters.ts';
import { type ExtractedText, isImage, maxWrappedBytes, parseMediaType } from '../formats/document.ts';
import { type ExtractDependencies, type ReadUpload, readPictures, readUpload } from '../formats/extract-document.ts';
import { readBody, readJson } from '../http/body.ts';
import { type Bulkhead, requestSignal } from '../http/in-flight.ts';
import { ProgressLines } from '../http/progress-lines.ts';
import type { Provider } from '../providers.ts';
import { askReranker } from '../rerank/ask-reranker.ts';
import { ServiceError } from '../service-error.ts';

/** An escaped surrogate pair. */
const jsonBytesPerCharacter = 12;

/** With `true` in this header the response also has the outline of the text. */
const outlineHeader = 'x-outline';

/**
 * The bounds for uploads in memory. Text recognition takes long, so uploads that need it must leave capacity to the others.
 */
export interface ExtractBulkheads {
  uploads: Bulkhead;
  /** The bound for uploads that were sent as images. */
  images: Bulkhead;
  /** The bound for the text recognition of uploads whose pictures were found while they were read. They wait with their bytes. */
  scans: Bulkhead;
}

/**
 * POST /v1/extract: raw bytes with their media type, or the base64 form. Reports progress for scanned pages, if the caller accepts lines.
 */
export function extractRoute(deps: ExtractDependencies & { bulkheads: ExtractBulkheads }): RequestHandler {
  const { maxUploadBytes } = deps.config;
  return async (request, response) => {
    const contentType = request.get('content-type');
    const mayBeWrapped = /^\s*(?:application|text)\/json\b/i.test(contentType ?? '');
    const maxBytes = mayBeWrapped ? maxWrappedBytes(maxUploadBytes) : maxUploadBytes;
    const signal = requestSignal(response);
    const lines = new ProgressLines(request, response);
    await lines.end(async () => {
      const { outline, ...extracted } = await extract(deps, { contentType, signal }, () => readBody(request, maxBytes), lines.report);
      return request.get(outlineHeader) === 'true' ? { ...extracted, outline } : extracted;
    });
  };
}

async function extract(
  { bulkheads, ...deps }: ExtractDependencies & { bulkheads: ExtractBulkheads },
  { contentType, signal }: { contentType: string | undefined; signal: AbortSignal },
  receive: () => Promise<Uint8Array>,
  onProgress: ProgressLines['report'],
): Promise<ExtractedText> {
  const read = async () => readUpload(deps, await receive(), contentType, signal);
  const finish = async (upload: ReadUpload) =>
    upload.kind === 'text' ? upload.extracted : await readPictures(deps, upload, signal, onProgress);
  if (isImage(parseMediaType(contentType).mediaType)) return await bulkheads.images.run(signal, async () => finish(await read()));
  const upload = await bulkheads.uploads.run(signal, read);
  return upload.kind === 'text' ? upload.extracted : await bulkheads.scans.run(signal, () => finish(upload));
}

/** Body of POST /v1/summarize. */
export const summarizeRequest = z.object({
  text: z.string().min(1),
  max_sentences: z.int().min(1).max(50).default(5),
});

/** POST /v1/summarize: 413 for a text longer than MAX_TEXT_CHARACTERS. */
export function summarizeRoute(provider: Provider, maxTextCharacters: number): RequestHandler {
  const maxBytes = maxTextCharacters * jsonBytesPerCharacter + 64 * 1024;
  return async (request, response) => {
    const { text, max_sentences } = await readJson(request, summarizeRequest, maxBytes);
    const characters = countCharacters(text);
    if (characters > maxTextCharacters) {
      throw new ServiceError(413, 'text_too_long', `The text has ${characters} characters; at most ${maxTextCharacters} are summarized.`);
    }
    response.json(await provider.summarize(text, max_sentences, requestSignal(response)));
  };
}

export const maxTexts = 64;
export const maxTextLength = 8000;

/** Body of POST /v1/embed. */
export const embedRequest = z.object({
  texts: z.array(z.string()).min(1).max(maxTexts),
  encoding_format: z
    .enum(['float', 'base64'])
    .default('float')
    .describe('How a vector is returned: as numbers, or as the base64 of 32-bit floats, low byte first.'),
  model: z
    .string()
    .optional()
    .describe('A model of `embeddings` at /health. Another name is ignored: the `model` of the response says which model it was.'),
  dimensions: z.int().min(1).max(16_000).optional().describe('How many numbers the vectors had that the named model made before.'),
});

/**
 * POST /v1/embed: 1 to 64 texts of at most 8,000 characters; one vector for each, in their order. Base64 spares both sides the
 * conversion of numbers to text.
 */
export function embedRoute(provider: Provider): RequestHandler {
  const maxBytes = maxTexts * maxTextLength * jsonBytesPerCharacter + 64 * 1024;
  return async (request, response) => {
    const { texts, encoding_format: format, model, dimensions } = await readJson(request, embedRequest, maxBytes);
    const tooLong = texts.findIndex((text) => countCharacters(text) > maxTextLength);
    if (tooLong >= 0) {
      throw new ServiceError(413, 'text_too_long', `Text ${tooLong} is longer than the ${maxTextLength} characters that are embedded.`);
    }
    const { vectors, ...rest } = await provider.embed(
      texts,
      requestSignal(response),
      model === undefined ? undefined : { model, dimensions },
    );
    response.json({ ...rest, vectors: format === 'base64' ? vectors.map(toBase64) : vectors });
  };
}

export const maxPassages = 50;
const maxNameLength = 1_000;
const maxQuestionLength = 2_000;

/** A text whose length is counted in characters. */
function atMost(characters: number) {
  return z.string().refine((text) => countCharacters(text) <= characters, `must have at most ${characters} characters`);
}

const maxUnits = 20_000;
/** Fifty long passages have a tenth of it. */
const maxAnswerBytes = 32 * 1024 * 1024;

/** Body of POST /v1/answer. */
export const answerRequest = z.object({
  question: atMost(maxQuestionLength).refine((text) => text.trim() !== '', 'must not be empty'),
  before: atMost(maxQuestionLength).nullable().default(null).describe('What was asked before, if the question leans on it.'),
  passages: z
    .array(
      z.object({
        title: atMost(maxNameLength),
        page: z.int().nullable(),
        heading: atMost(maxNameLength).nullable(),
        units: z.array(
          z.object({
            text: atMost(maxTextLength),
            context: atMost(maxTextLength).describe('Headings and other lines that say what it is about.'),
            heading: z.boolean().describe('Whether it only names what follows.'),
          }),
        ),
      }),
    )
    .max(maxPassages)
    .refine((passages) => passages.flatMap(({ units }) => units).length <= maxUnits, `must have at most ${maxUnits} units`)
    .describe('What a search has found, best first, cut into sentences, items of lists and rows of tables.'),
  max_sentences: z.int().min(1).max(20).default(5),
  draft: z.boolean().default(false).describe('Whether a remote model is asked for its own words, too.'),
});

/**
 * POST /v1/answer: a question and at most 50 passages, cut into units. Returns the numbers of the units that respond, counted through all
 * passages from 1; none if nothing responds.
 */
export function answerRoute(provider: Provider): RequestHandler {
  return async (request, response) => {
    const { max_sentences: maxSentences, ...question } = await readJson(request, answerRequest, maxAnswerBytes);
    response.json(await provider.answer({ ...question, maxSentences }, requestSignal(response)));
  };
}

/** Body of POST /v1/fields. */
export const fieldsRequest = z.object({
  schema: z.record(z.string(), z.unknown()).describe('The JSON Schema of what is wanted.'),
  title: atMost(maxNameLength),
  passages: z
    .array(
      z.object({
        id: z.string().min(1).max(200),
        page: z.int().nullable(),
        heading: atMost(maxNameLength).nullable(),
        text: atMost(maxTextLength),
      }),
    )
    .min(1)
    .describe('The text of the document, in its order.'),
});

/**
 * POST /v1/fields: a JSON Schema and the passages of a document, together at most MAX_TEXT_CHARACTERS. Returns values with what they quote.
 * Neither values nor quotes are checked here.
 */
export function fieldsRoute(provider: Provider, maxTextCharacters: number): RequestHandler {
  const maxBytes = 2 * maxTextCharacters * jsonBytesPerCharacter + 1024 * 1024;
  return async (request, response) => {
    const asked = await readJson(request, fieldsRequest, maxBytes);
    const characters = asked.passages.reduce((sum, { text }) => sum + countCharacters(text), 0);
    if (characters > maxTextCharacters) {
      throw new ServiceError(
        413,
        'text_too_long',
        `The text has ${characters} characters; at most ${maxTextCharacters} are read for fields.`,
      );
    }
    response.json(await provider.fields(asked, requestSignal(response)));
  };
}

/** Body of POST /v1/rerank. */
export const rerankRequest = z.object({
  query: atMost(maxQuestionLength).refine((text) => text.trim() !== '', 'must not be empty'),
  documents: z.array(atMost(maxTextLength)).min(1).max(maxPassages),
});

/** POST /v1/rerank: a query and 1 to 50 texts of at most 8,000 characters; the indexes of all, the best first. */
export function rerankRoute(remote: RemoteModelConfig | null): RequestHandler {
  const maxBytes = maxPassages * maxTextLength * jsonBytesPerCharacter + 64 * 1024;
  return async (request, response) => {
    const { query, documents } = await readJson(request, rerankRequest, maxBytes);
    response.json(await askReranker(remote, query, documents, requestSignal(response)));
  };
}

function toBase64(vector: number[]): string {
  return Buffer.from(Float32Array.from(vector).buffer).toString('base64');
}
