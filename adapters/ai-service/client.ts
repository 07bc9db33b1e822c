import type { Readable } from 'node:stream';
import { request } from 'undici';
import type { z } from 'zod';
import { linesMediaType, outlineHeader, secondsHeader } from '../../contract/ai-service/extract.ts';
import { aiService } from '../../contract/ai-service/index.ts';
import { ask, type CallOptions, type RequestOptions, type Response, type Route } from './ask.ts';
import { unusableResponse } from './client-error.ts';
import type { ExtractionProgress } from './client-lines.ts';
import { LivenessMonitor } from './liveness-monitor.ts';
import type { CallRecord } from './port.ts';
import { readFloatVectors, readNumberVectors } from './read-vectors.ts';
import { createCallRecorder } from './record-call.ts';

export type { CallOptions } from './ask.ts';
export { AiServiceError } from './client-error.ts';
export type { ExtractionProgress } from './client-lines.ts';
export { anyWait, patiently } from './patiently.ts';
export type { CallOwner } from './port.ts';
export type { FloatEmbeddings, TextEmbeddings } from './read-vectors.ts';

/** The body of a request, before its defaults. */
type Body<R extends { body: z.ZodType }> = z.input<R['body']>;
/** A request with the name that the callers use for its sentences. */
type Sentences<B> = Omit<B, 'max_sentences'> & { maxSentences?: number | undefined };

export type AiHealth = ReturnType<typeof toHealth>;

/** A document to read: its bytes or a stream of them. With `contentLength` the service refuses a document that is too large at once. */
interface ExtractInput extends CallOptions {
  body: Uint8Array | Readable | ReadableStream<Uint8Array>;
  contentType: string;
  contentLength?: number | undefined;
  /** How long there is for the scanned pages of a PDF, from 1: what is read until then is the text. */
  seconds?: number | undefined;
  /** Called for each scanned page that text recognition has read. */
  onProgress?: ((progress: ExtractionProgress) => void) | undefined;
}

/**
 * Texts to embed. The model of `index` embeds them if the service still has it, otherwise the service's own model. The response names the
 * model.
 */
export interface EmbedInput extends CallOptions {
  texts: string[];
  index?: { model: string; dimensions: number } | undefined;
}

/** The client of the internal AI service. Every method throws AiServiceError, or the reason of an aborted signal. */
export type AiClient = ReturnType<typeof createAiClient>;

const defaultTimeouts = {
  extractMs: 180_000,
  summarizeMs: 90_000,
  embedMs: 60_000,
  answerMs: 90_000,
  rewriteMs: 10_000,
  fieldsMs: 90_000,
  rerankMs: 15_000,
  healthMs: 2000,
};

/**
 * The address of the service and its token. `timeouts` are for whole calls, in milliseconds. `attemptMs` is how long an attempt of a job may
 * take; extraction, embedding and the fields of a document may take as long.
 */
interface AiClientOptions {
  baseUrl: string;
  token: string;
  attemptMs?: number;
  /** Where what providers did is recorded. */
  record?: CallRecord | undefined;
  timeouts?: Partial<typeof defaultTimeouts>;
}

/** Creates the client of the AI service at `baseUrl`. Connections are kept alive and shared by the process. */
export function createAiClient(options: AiClientOptions) {
  const timeouts = lengthen({ ...defaultTimeouts, ...options.timeouts }, options.attemptMs ?? 0);
  const baseUrl = options.baseUrl.replace(/(?<!\/)\/+$/, '');
  const ping = (signal: AbortSignal) => request(`${baseUrl}${aiService.health.path}`, { signal }).then(({ body }) => body.dump());
  const service = { baseUrl, token: options.token, livenessMonitor: new LivenessMonitor(ping) };
  const readHealth = () => ask(service, aiService.health, {}, timeouts.healthMs, {});
  const recorded = options.record && createCallRecorder({ record: options.record, readHealth });
  const send = <R extends Route>(route: R, sent: RequestOptions, timeoutMs: number, call: CallOptions): Promise<Response<R>> =>
    recorded
      ? recorded(route.path, call, (onUsage) => ask(service, route, { ...sent, onUsage }, timeoutMs, call))
      : ask(service, route, sent, timeoutMs, call);
  const post = <R extends Route & { body: z.ZodType }>(route: R, body: Body<R>, timeoutMs: number, call: CallOptions) =>
    send(route, { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }, timeoutMs, call);
  const embed = (encoding_format: 'float' | 'base64', { texts, index, ...call }: EmbedInput) => {
    // Callers may pass a whole index: only these two fields belong to the request.
    const wanted = index ? { model: index.model, dimensions: index.dimensions } : {};
    return post(aiService.embed, { texts, encoding_format, ...wanted }, timeouts.embedMs, call);
  };
  return {
    /** Extracts the text of a document; the body is streamed. */
    async extract({ body, contentType, contentLength, seconds, onProgress, ...call }: ExtractInput) {
      const headers: Record<string, string> = { 'content-type': contentType, [outlineHeader]: 'true' };
      if (contentLength !== undefined) headers['content-length'] = String(contentLength);
      if (seconds !== undefined) headers[secondsHeader] = String(seconds);
      if (onProgress) headers.accept = `${linesMediaType}, application/json`;
      return toExtraction(await send(aiService.extract, { headers, body, onProgress }, timeouts.extractMs, call));
    },
    /** Summarizes a text with at most `maxSentences` sentences (1 to 50, default 5). */
    summarize({ text, maxSentences, ...call }: CallOptions & Sentences<Body<typeof aiService.summarize>>) {
      return post(aiService.summarize, { text, max_sentences: maxSentences }, timeouts.summarizeMs, call);
    },
    /** Embeds 1 to 64 texts; one vector for each, in their order. */
    async embed(input: EmbedInput) {
      return readNumberVectors(await embed('float', input), input.texts.length);
    },
    /** The same with vectors of 32-bit floats, which spares the conversion of numbers to text. */
    async embedFloats(input: EmbedInput) {
      return readFloatVectors(await embed('base64', input), input.texts.length);
    },
    /** Answers a question by the numbers of at most `maxSentences` units (1 to 20, default 5), or pairs of neighbours. */
    answer({
      question,
      before,
      passages,
      embed_model,
      maxSentences,
      draft,
      ...call
    }: CallOptions & Sentences<Body<typeof aiService.answer>>) {
      const asked = { question, before, passages, embed_model, max_sentences: maxSentences, draft };
      return post(aiService.answer, asked, timeouts.answerMs, call);
    },
    /** A question that leans on those before it as one that stands by itself. Null without a remote model. */
    async rewrite({ question, earlier, ...call }: CallOptions & Body<typeof aiService.rewrite>) {
      return (await post(aiService.rewrite, { question, earlier }, timeouts.rewriteMs, call)).question;
    },
    /** Reads the values of a schema out of a document, part by part. What a value quotes is not checked: `toFields` does that. */
    fields({ schema, title, passages, ...call }: CallOptions & Body<typeof aiService.fields>) {
      return post(aiService.fields, { schema, title, passages }, timeouts.fieldsMs, call);
    },
    /** The indexes of 1 to 50 documents (their texts), in the order in which they respond to a query. */
    async rerank({ query, documents, ...call }: CallOptions & Body<typeof aiService.rerank>) {
      const { results } = await post(aiService.rerank, { query, documents }, timeouts.rerankMs, call);
      return results.map(({ index }) => index);
    },
    /** The state that the service reports. */
    async health(call: CallOptions = {}) {
      return toHealth(await ask(service, aiService.health, {}, timeouts.healthMs, call));
    },
  };
}

/** The outline was asked for. */
function toExtraction({
  outline,
  content_type: contentType,
  ocr_pages: ocrPages,
  ocr_confidence,
  ...rest
}: Response<typeof aiService.extract>) {
  if (!outline) throw unusableResponse(200, new Error('The text has no outline.'));
  return {
    ...rest,
    outline,
    contentType,
    ...(ocrPages ? { ocrPages } : {}),
    ...(ocr_confidence ? { ocrConfidence: ocr_confidence } : {}),
  };
}

function toHealth({ embeddings: [own, ...others], ...rest }: Response<typeof aiService.health>) {
  const toModel = ({ chunk_characters, texts_per_call, ...model }: typeof own) => {
    return { ...model, chunkCharacters: chunk_characters, textsPerCall: texts_per_call };
  };
  const embeddings: [ReturnType<typeof toModel>, ...ReturnType<typeof toModel>[]] = [toModel(own), ...others.map(toModel)];
  return { ...rest, embeddings };
}

/** If a call ended before the attempt of the job, the next attempt would do all the work again. */
function lengthen(timeouts: typeof defaultTimeouts, attemptMs: number): typeof defaultTimeouts {
  const atLeast = (ms: number) => Math.max(ms, attemptMs);
  const { extractMs, embedMs, fieldsMs } = timeouts;
  return { ...timeouts, extractMs: atLeast(extractMs), embedMs: atLeast(embedMs), fieldsMs: atLeast(fieldsMs) };
}
