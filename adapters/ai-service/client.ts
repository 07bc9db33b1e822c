import { Readable } from 'node:stream';
import { request } from 'undici';
import type { z } from 'zod';
import { currentTraceparent, inSpan } from '../../base/telemetry/spans.ts';
import { errorOfResponse, type ReceivedResponse, unreachable, unusableResponse } from './client-error.ts';
import { type ExtractionProgress, linesMediaType, readLines } from './client-lines.ts';
import {
  type AiHealth,
  answer,
  type Extraction,
  embeddings,
  extraction,
  type FloatEmbeddings,
  floatEmbeddings,
  health,
  ranking,
  refusal,
  type SaidFields,
  saidFields,
  summary,
  type TextAnswer,
  type TextEmbeddings,
  type TextSummary,
} from './client-responses.ts';

import { LivenessMonitor } from './liveness-monitor.ts';

export { AiServiceError } from './client-error.ts';
export type { ExtractionProgress } from './client-lines.ts';
export type { AiHealth, FloatEmbeddings, SaidFields, TextAnswer, TextEmbeddings } from './client-responses.ts';

/** Options of every call. An aborted `signal` rejects it with the signal's reason. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** Echoed by the service and written to its log. */
  requestId?: string | undefined;
  /** How long the service may be away altogether before the call fails, in milliseconds: 15 s by default. A slow one is waited for. */
  patienceMs?: number | undefined;
}

/** A document to read: its bytes or a stream of them. With `contentLength` the service refuses a document that is too large at once. */
interface ExtractInput extends CallOptions {
  body: Uint8Array | Readable | ReadableStream<Uint8Array>;
  contentType: string;
  contentLength?: number | undefined;
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

/** A question, and what a search has found for it, best first: at most 50 passages, cut into units that are numbered through from 1. */
interface AnswerInput extends CallOptions {
  question: string;
  /** What was asked before, if the question leans on it. */
  before?: string | null;
  passages: {
    title: string;
    page: number | null;
    heading: string | null;
    /** `context`: headings and other lines that say what it is about. `heading`: it only names what follows. At most 8,000 characters each. */
    units: { text: string; context: string; heading: boolean }[];
  }[];
  /** 1 to 20, 5 by default. */
  maxSentences?: number | undefined;
  /** Whether a remote model is asked for its own words, too. */
  draft?: boolean;
}

/** A JSON Schema, and the passages of a document, in its order and as it has them: each of at most 8,000 characters. */
interface FieldsInput extends CallOptions {
  schema: object;
  title: string;
  passages: { id: string; page: number | null; heading: string | null; text: string }[];
}

/** The client of the internal AI service. Every method throws AiServiceError, or the reason of an aborted signal. */
export interface AiClient {
  /** Extracts the text of a document; the body is streamed. */
  extract(input: ExtractInput): Promise<Extraction>;
  /** Summarizes a text with at most `maxSentences` sentences (1 to 50, default 5). */
  summarize(input: CallOptions & { text: string; maxSentences?: number | undefined }): Promise<TextSummary>;
  /** Embeds 1 to 64 texts; one vector for each, in their order. */
  embed(input: EmbedInput): Promise<TextEmbeddings>;
  /** The same with vectors of 32-bit floats, which spares the conversion of numbers to text. */
  embedFloats(input: EmbedInput): Promise<FloatEmbeddings>;
  /**
   * Answers a question by the numbers of at most `maxSentences` units, or pairs of neighbours; by none if nothing responds.
   */
  answer(input: AnswerInput): Promise<TextAnswer>;
  /**
   * Reads the values of a schema out of a document, part by part. What a value quotes is not checked: `toFields` does that. Rejects with
   * `no_chat_model` without a remote model.
   */
  fields(input: FieldsInput): Promise<SaidFields>;
  /** The indexes of 1 to 50 documents (their texts), in the order in which they respond to a query. Rejects with `no_reranker` without a model. */
  rerank(input: CallOptions & { query: string; documents: string[] }): Promise<number[]>;
  /** The state that the service reports. */
  health(input?: CallOptions): Promise<AiHealth>;
}

/** Long, since a call that gives up costs the job an attempt. */
const defaultPatienceMs = 15_000;
const defaultTimeouts = {
  extractMs: 180_000,
  summarizeMs: 90_000,
  embedMs: 60_000,
  answerMs: 90_000,
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
  timeouts?: Partial<typeof defaultTimeouts>;
}

/** Creates the client of the AI service at `baseUrl`. Connections are kept alive and shared by the process. */
export function createAiClient(options: AiClientOptions): AiClient {
  const timeouts = lengthen({ ...defaultTimeouts, ...options.timeouts }, options.attemptMs ?? 0);
  const baseUrl = options.baseUrl.replace(/(?<!\/)\/+$/, '');
  const livenessMonitor = new LivenessMonitor((signal) => request(`${baseUrl}/health`, { signal }).then(({ body }) => body.dump()));
  const service = { baseUrl, token: options.token, livenessMonitor };
  return {
    extract: ({ body, contentType, contentLength, onProgress, ...call }) => {
      const headers: Record<string, string> = { 'content-type': contentType, 'x-outline': 'true' };
      if (contentLength !== undefined) headers['content-length'] = String(contentLength);
      if (onProgress) headers.accept = `${linesMediaType}, application/json`;
      return ask(service, '/v1/extract', { method: 'POST', headers, body, onProgress }, extraction, timeouts.extractMs, call);
    },
    summarize: ({ text, maxSentences, ...call }) =>
      ask(service, '/v1/summarize', json({ text, max_sentences: maxSentences }), summary, timeouts.summarizeMs, call),
    embed: async ({ texts, index, ...call }) =>
      oneVectorEach(texts, await ask(service, '/v1/embed', json({ texts, ...wanted(index) }), embeddings, timeouts.embedMs, call)),
    embedFloats: async ({ texts, index, ...call }) => {
      const body = json({ texts, ...wanted(index), encoding_format: 'base64' });
      return oneVectorEach(texts, await ask(service, '/v1/embed', body, floatEmbeddings, timeouts.embedMs, call));
    },
    answer: ({ question, before, passages, maxSentences, draft, ...call }) => {
      const body = json({ question, before, passages, max_sentences: maxSentences, draft });
      return ask(service, '/v1/answer', body, answer, timeouts.answerMs, call);
    },
    fields: ({ schema, title, passages, ...call }) =>
      ask(service, '/v1/fields', json({ schema, title, passages }), saidFields, timeouts.fieldsMs, call),
    rerank: async ({ query, documents, ...call }) => {
      const { results } = await ask(service, '/v1/rerank', json({ query, documents }), ranking, timeouts.rerankMs, call);
      return results.map(({ index }) => index);
    },
    health: (call = {}) => ask(service, '/health', { method: 'GET' }, health, timeouts.healthMs, call),
  };
}

/** If a call ended before the attempt of the job, the next attempt would do all the work again. */
function lengthen(timeouts: typeof defaultTimeouts, attemptMs: number): typeof defaultTimeouts {
  const atLeast = (ms: number) => Math.max(ms, attemptMs);
  const { extractMs, embedMs, fieldsMs } = timeouts;
  return { ...timeouts, extractMs: atLeast(extractMs), embedMs: atLeast(embedMs), fieldsMs: atLeast(fieldsMs) };
}

/** Callers may pass a whole index: only these two fields belong to the request. */
function wanted(index: EmbedInput['index']): { model?: string; dimensions?: number } {
  return index ? { model: index.model, dimensions: index.dimensions } : {};
}

interface Service {
  baseUrl: string;
  token: string;
  livenessMonitor: LivenessMonitor;
}

function oneVectorEach<T extends FloatEmbeddings>(texts: string[], embedded: T): T {
  if (embedded.vectors.length === texts.length) return embedded;
  throw unusableResponse(200, new Error('The number of vectors is not that of the texts.'));
}

interface RequestOptions {
  method: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string | ExtractInput['body'];
  onProgress?: ExtractInput['onProgress'];
}

function json(body: unknown): RequestOptions {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

/** A span, if the call is part of a trace, which is passed on to the service. */
function ask<T extends z.ZodType>(...call: Parameters<typeof askUntraced<T>>): Promise<z.output<T>> {
  const [, path] = call;
  return inSpan(`AI ${path}`, { kind: 'client', attributes: { 'url.path': path } }, () => askUntraced(...call));
}

async function askUntraced<T extends z.ZodType>(
  { baseUrl, token, livenessMonitor }: Service,
  path: string,
  options: RequestOptions,
  schema: T,
  timeoutMs: number,
  call: CallOptions,
): Promise<z.output<T>> {
  const traceparent = currentTraceparent();
  const headers = {
    ...options.headers,
    ...(traceparent === undefined ? {} : { traceparent }),
    'x-service-token': token,
    ...(call.requestId === undefined ? {} : { 'x-request-id': call.requestId }),
  };
  const away = livenessMonitor.watch(call.patienceMs ?? defaultPatienceMs);
  const response = await send(`${baseUrl}${path}`, { ...options, headers }, { timeoutMs, signal: call.signal, away: away.signal }).finally(
    away.done,
  );
  const parsed = parseJson(response.text);
  if (response.status >= 400) throw errorOfResponse(response, refusal.safeParse(parsed).data?.error);
  const checked = schema.safeParse(parsed);
  if (response.status !== 200 || !checked.success) throw unusableResponse(response.status, checked.error);
  return checked.data;
}

/** By itself a connection would wait for five minutes, which is less than an attempt may take. */
const endless = { headersTimeout: 0, bodyTimeout: 0 };

// `fetch` would need twice the CPU time, and indexing a large document makes sixty calls.
async function send(
  url: string,
  { body, onProgress, ...options }: RequestOptions,
  { timeoutMs, signal, away }: { timeoutMs: number; signal: AbortSignal | undefined; away: AbortSignal },
): Promise<ReceivedResponse> {
  signal?.throwIfAborted();
  const timeout = AbortSignal.timeout(timeoutMs);
  const either = signal ? AbortSignal.any([signal, timeout, away]) : AbortSignal.any([timeout, away]);
  const source = new Source(body);
  try {
    const response = await request(url, { ...options, ...endless, body: source.bytes, signal: either });
    if (onProgress && response.headers['content-type']?.toString().startsWith(linesMediaType))
      return await readLines(response.body, onProgress);
    return { status: response.statusCode, retryAfter: response.headers['retry-after']?.toString(), text: await response.body.text() };
  } catch (error) {
    signal?.throwIfAborted();
    if (away.aborted) throw unreachable('unreachable', away.reason);
    if (timeout.aborted) throw unreachable('timeout', error);
    throw source.failure ? source.failure.error : unreachable('unreachable', error);
  }
}

/** The body of a request. Remembers an error of its source, which the caller gets unchanged; undici's own errors cannot be told apart from it. */
class Source {
  readonly bytes: string | Uint8Array | Readable | undefined;
  failure: { error: unknown } | undefined;

  constructor(body: RequestOptions['body']) {
    this.bytes = body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : Readable.from(this.watch(body));
  }

  private async *watch(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      yield* stream;
    } catch (error) {
      // If the connection fails, undici destroys the stream and throws its own error here: the source did not fail then.
      if (this.bytes instanceof Readable && !this.bytes.destroyed) this.failure = { error };
      throw error;
    }
  }
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
