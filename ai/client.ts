import { Readable } from 'node:stream';
import { request } from 'undici';
import { z } from 'zod';
import { type Answer, errorOfAnswer, unreachable, unusableAnswer } from './client-error.ts';
import { readFloatVectors } from './float-vectors.ts';

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
// A service that does not know the format answers numbers.
const floatEmbeddings = z
  .object({ model: storable.min(1), dimensions: z.int().positive(), vectors: z.array(z.string()) })
  .transform(({ vectors, ...rest }, context): FloatEmbeddings => {
    const read = readFloatVectors(vectors, rest.dimensions);
    if (!read) context.addIssue('a vector is not made of as many floats');
    return { ...rest, vectors: read ?? [] };
  })
  .or(embeddings);
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
/** Vectors as they are stored, with 32 bits for a number. */
export type FloatEmbeddings = Omit<TextEmbeddings, 'vectors'> & { vectors: ArrayLike<number>[] };
export type AiHealth = z.output<typeof health>;

/** The way to the internal AI service. Every method throws AiServiceError, or the reason of an aborted signal. */
export interface AiClient {
  /** Extracts the text of a document; the body is streamed. */
  extract(input: ExtractInput): Promise<Extraction>;
  /** Summarizes a text with at most `maxSentences` sentences (1 to 50, default 5). */
  summarize(input: CallOptions & { text: string; maxSentences?: number | undefined }): Promise<TextSummary>;
  /** Embeds 1 to 64 texts; one vector for each, in their order. */
  embed(input: CallOptions & { texts: string[] }): Promise<TextEmbeddings>;
  /** The same with vectors that are for storing: without the cost of writing and reading their numbers as text. */
  embedFloats(input: CallOptions & { texts: string[] }): Promise<FloatEmbeddings>;
  /** What the service reports of itself. */
  health(input?: CallOptions): Promise<AiHealth>;
}

const defaultTimeouts = { extractMs: 180_000, summarizeMs: 90_000, embedMs: 60_000, healthMs: 2000 };

/** Where the service is. `timeouts` bound each call from the outside, in milliseconds. */
export interface AiClientOptions {
  baseUrl: string;
  token: string;
  timeouts?: Partial<typeof defaultTimeouts>;
}

/** Creates the client of the AI service at `baseUrl`. Connections are kept alive and shared by the process. */
export function createAiClient(options: AiClientOptions): AiClient {
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  return {
    extract: ({ body, contentType, contentLength, ...call }) => {
      const headers: Record<string, string> = { 'content-type': contentType };
      if (contentLength !== undefined) headers['content-length'] = String(contentLength);
      return ask(options, '/v1/extract', { method: 'POST', headers, body }, extraction, timeouts.extractMs, call);
    },
    summarize: ({ text, maxSentences, ...call }) =>
      ask(options, '/v1/summarize', json({ text, max_sentences: maxSentences }), summary, timeouts.summarizeMs, call),
    embed: async ({ texts, ...call }) =>
      ofAsMany(texts, await ask(options, '/v1/embed', json({ texts }), embeddings, timeouts.embedMs, call)),
    embedFloats: async ({ texts, ...call }) => {
      const body = json({ texts, encoding_format: 'base64' });
      return ofAsMany(texts, await ask(options, '/v1/embed', body, floatEmbeddings, timeouts.embedMs, call));
    },
    health: (call = {}) => ask(options, '/health', { method: 'GET' }, health, timeouts.healthMs, call),
  };
}

function ofAsMany<T extends FloatEmbeddings>(texts: string[], answer: T): T {
  if (answer.vectors.length === texts.length) return answer;
  throw unusableAnswer(200, new Error('The number of vectors is not that of the texts.'));
}

interface Sent {
  method: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string | ExtractInput['body'];
}

function json(body: unknown): Sent {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

async function ask<T extends z.ZodType>(
  { baseUrl, token }: AiClientOptions,
  path: string,
  sent: Sent,
  schema: T,
  timeoutMs: number,
  call: CallOptions,
): Promise<z.output<T>> {
  const headers = {
    ...sent.headers,
    'x-service-token': token,
    ...(call.requestId === undefined ? {} : { 'x-request-id': call.requestId }),
  };
  const answer = await send(`${baseUrl.replace(/\/+$/, '')}${path}`, { ...sent, headers }, timeoutMs, call.signal);
  const parsed = parseJson(answer.text);
  if (answer.status >= 400) throw errorOfAnswer(answer, refusal.safeParse(parsed).data?.error);
  const read = schema.safeParse(parsed);
  if (answer.status !== 200 || !read.success) throw unusableAnswer(answer.status, read.error);
  return read.data;
}

// `fetch` would take twice the processor time, and indexing makes sixty calls for a large document.
async function send(url: string, { body, ...sent }: Sent, timeoutMs: number, signal: AbortSignal | undefined): Promise<Answer> {
  signal?.throwIfAborted();
  const timeout = AbortSignal.timeout(timeoutMs);
  const ends = signal ? AbortSignal.any([signal, timeout]) : timeout;
  const source = new Source(body);
  try {
    const answer = await request(url, { ...sent, body: source.bytes, signal: ends });
    return { status: answer.statusCode, retryAfter: answer.headers['retry-after']?.toString(), text: await answer.body.text() };
  } catch (error) {
    signal?.throwIfAborted();
    if (timeout.aborted) throw unreachable('timeout', error);
    throw source.failure ? source.failure.error : unreachable('unreachable', error);
  }
}

/** What is sent. Remembers the failure of a stream's own source, which its owner knows how to judge; the transport's failures look alike. */
class Source {
  readonly bytes: string | Uint8Array | Readable | undefined;
  failure: { error: unknown } | undefined;

  constructor(body: Sent['body']) {
    this.bytes = body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : Readable.from(this.watch(body));
  }

  private async *watch(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      yield* stream;
    } catch (error) {
      // A transport that fails throws its error in here as well, once it has given the stream up.
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
