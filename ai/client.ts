import { Readable } from 'node:stream';
import { z } from 'zod';
import { errorOfAnswer, unreachable, unusableAnswer } from './client-error.ts';

export { AiServiceError, type AiServiceErrorKind } from './client-error.ts';

/** Options of every call. `signal` ends it at once with the signal's own reason. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** Echoed by the service and written to its log. */
  requestId?: string | undefined;
}

/** A document to read: its bytes or a stream of them. `contentLength` lets the service refuse at once what is too large. */
export interface ExtractInput extends CallOptions {
  body: Uint8Array | Readable | ReadableStream<Uint8Array>;
  contentType: string;
  contentLength?: number | undefined;
}

/** What Postgres can store: no NUL, no lone surrogate. */
const storable = z.string().refine((value) => value.isWellFormed() && !value.includes('\u0000'), 'is not well-formed text');
const count = z.int().min(0);
const text = z.object({
  text: storable,
  characters: count,
  pages: count.nullable(),
  truncated: z.boolean(),
  content_type: z.string(),
});
const extraction = text.transform(({ content_type, ...rest }) => ({ ...rest, contentType: content_type }));
const summary = z.object({ summary: storable, sentences: count, model: storable, characters: count });
// An answer has tens of thousands of numbers: as a schema for each they would cost more than reading them.
const vector = z.custom<number[]>((value) => Array.isArray(value) && value.every(Number.isFinite), 'is not a vector');
const embeddings = z
  .object({ model: storable.min(1), dimensions: z.int().positive(), vectors: z.array(vector) })
  .refine(({ dimensions, vectors }) => vectors.every((vector) => vector.length === dimensions), 'a vector has another length');
const health = z.object({
  ok: z.boolean(),
  provider: z.string(),
  ocr: z.string(),
  auth: z.string(),
  problems: z.array(z.string()).default([]),
});
const refusal = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

export type Extraction = z.output<typeof extraction>;
export type TextSummary = z.output<typeof summary>;
export type TextEmbeddings = z.output<typeof embeddings>;
export type AiHealth = z.output<typeof health>;

/** The way to the internal AI service. Every method throws AiServiceError, or the reason of an aborted signal. */
export interface AiClient {
  /** Extracts the text of a document; the body is streamed. */
  extract(input: ExtractInput): Promise<Extraction>;
  /** Summarizes a text with at most `maxSentences` sentences (1 to 50, default 5). */
  summarize(input: CallOptions & { text: string; maxSentences?: number | undefined }): Promise<TextSummary>;
  /** Embeds 1 to 64 texts; one vector for each, in their order. */
  embed(input: CallOptions & { texts: string[] }): Promise<TextEmbeddings>;
  /** What the service reports of itself. */
  health(input?: CallOptions): Promise<AiHealth>;
}

const defaultTimeouts = { extractMs: 180_000, summarizeMs: 90_000, embedMs: 60_000, healthMs: 2000 };

/** Where the service is. `timeouts` bound each call from the outside, in milliseconds. */
export interface AiClientOptions {
  baseUrl: string;
  token: string;
  fetch?: typeof globalThis.fetch;
  timeouts?: Partial<typeof defaultTimeouts>;
}

/** Creates the client of the AI service at `baseUrl`. Connections are kept alive and shared by the process. */
export function createAiClient(options: AiClientOptions): AiClient {
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  return {
    extract: ({ body, contentType, contentLength, ...call }) => {
      const headers: Record<string, string> = { 'content-type': contentType };
      if (contentLength !== undefined) headers['content-length'] = String(contentLength);
      const init: RequestInit = { method: 'POST', headers, body: body as RequestInit['body'], duplex: 'half' };
      return ask(options, '/v1/extract', init, extraction, timeouts.extractMs, call);
    },
    summarize: ({ text, maxSentences, ...call }) =>
      ask(options, '/v1/summarize', json({ text, max_sentences: maxSentences }), summary, timeouts.summarizeMs, call),
    embed: async ({ texts, ...call }) => {
      const answer = await ask(options, '/v1/embed', json({ texts }), embeddings, timeouts.embedMs, call);
      if (answer.vectors.length !== texts.length) throw unusableAnswer(200, new Error('The number of vectors is not that of the texts.'));
      return answer;
    },
    health: (call = {}) => ask(options, '/health', { method: 'GET' }, health, timeouts.healthMs, call),
  };
}

function json(body: unknown): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

async function ask<T extends z.ZodType>(
  { baseUrl, token, fetch = globalThis.fetch }: AiClientOptions,
  path: string,
  init: RequestInit,
  schema: T,
  timeoutMs: number,
  { signal, requestId }: CallOptions,
): Promise<z.output<T>> {
  signal?.throwIfAborted();
  const timeout = AbortSignal.timeout(timeoutMs);
  const headers = new Headers(init.headers);
  headers.set('x-service-token', token);
  if (requestId !== undefined) headers.set('x-request-id', requestId);
  try {
    const response = await fetch(`${baseUrl.replace(/\/+$/, '')}${path}`, {
      ...init,
      headers,
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    return readAnswer(response.status, await response.text(), schema, response);
  } catch (error) {
    signal?.throwIfAborted();
    if (timeout.aborted) throw unreachable('timeout', error);
    // The document's own source failed, which its owner knows how to judge.
    if (init.body instanceof Readable && init.body.errored) throw init.body.errored;
    throw error instanceof TypeError ? unreachable('unreachable', error) : error;
  }
}

function readAnswer<T extends z.ZodType>(status: number, body: string, schema: T, response: Response): z.output<T> {
  const parsed = parseJson(body);
  if (status >= 400) throw errorOfAnswer(response, refusal.safeParse(parsed).data?.error);
  const answer = schema.safeParse(parsed);
  if (status !== 200 || !answer.success) throw unusableAnswer(status, answer.error);
  return answer.data;
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
