import { Readable } from 'node:stream';
import { request } from 'undici';
import type { z } from 'zod';
import { currentTraceparent, inSpan } from '../../base/telemetry/spans.ts';
import { linesMediaType } from '../../contract/ai-service/extract.ts';
import { refusal } from '../../contract/ai-service/index.ts';
import { usageHeader } from '../../contract/ai-service/usage.ts';
import { tenantHeader } from '../../contract/ai-service/values.ts';
import { errorOfResponse, type ReceivedResponse, unreachable, unusableResponse } from './client-error.ts';
import { type ExtractionProgress, readLines } from './client-lines.ts';
import type { LivenessMonitor } from './liveness-monitor.ts';
import type { CallOwner } from './port.ts';

/** A route of the contract. */
export interface Route {
  method: string;
  path: string;
  responses: { 200: z.ZodType };
}

/** What a route promises. */
export type Response<R extends Route> = z.output<R['responses'][200]>;

/** Options of every call. An aborted `signal` rejects it with the signal's reason. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** Echoed by the service and written to its log. */
  requestId?: string | undefined;
  /** The organization whose work it is: organizations get their turns. */
  tenant?: string | undefined;
  /** Whether a person waits for it: then it has turns beside the jobs of the organization. */
  isAwaited?: boolean | undefined;
  /** What it is made for, for the record of what providers did. */
  owner?: CallOwner | undefined;
  /** How long the service may be away altogether before the call fails, in milliseconds: 15 s by default. A slow one is waited for. */
  patienceMs?: number | undefined;
}

/** Long, since a call that gives up costs the job an attempt. */
const defaultPatienceMs = 15_000;

/** The service, and what says whether it is there. */
interface Service {
  baseUrl: string;
  token: string;
  livenessMonitor: LivenessMonitor;
}

export interface RequestOptions {
  headers?: Record<string, string>;
  body?: string | Uint8Array | Readable | ReadableStream<Uint8Array>;
  /** Called for each scanned page that text recognition has read. */
  onProgress?: ((progress: ExtractionProgress) => void) | undefined;
  /** Called with what the response says of its use of a provider. */
  onUsage?: ((said: string | undefined) => void) | undefined;
}

/**
 * Calls a route of the contract, and returns what it promises. Throws AiServiceError, the signal's reason, or the error of the body's source.
 * A span, if the call is part of a trace, which is passed on to the service.
 */
export function ask<R extends Route>(...call: Parameters<typeof askUntraced<R>>): Promise<Response<R>> {
  const [, { path }] = call;
  return inSpan(`AI ${path}`, { kind: 'client', attributes: { 'url.path': path } }, () => askUntraced(...call));
}

async function askUntraced<R extends Route>(
  { baseUrl, token, livenessMonitor }: Service,
  { method, path, responses }: R,
  options: RequestOptions,
  timeoutMs: number,
  call: CallOptions,
): Promise<Response<R>> {
  const traceparent = currentTraceparent();
  const headers = {
    ...options.headers,
    ...(traceparent === undefined ? {} : { traceparent }),
    'x-service-token': token,
    ...(call.requestId === undefined ? {} : { 'x-request-id': call.requestId }),
    ...(call.tenant === undefined ? {} : { [tenantHeader]: call.isAwaited ? `${call.tenant} asks` : call.tenant }),
  };
  const away = livenessMonitor.watch(call.patienceMs ?? defaultPatienceMs);
  const bounds = { timeoutMs, signal: call.signal, away: away.signal };
  const { onUsage, ...sent } = options;
  const response = await send(`${baseUrl}${path}`, { ...sent, method, headers }, bounds).finally(away.done);
  onUsage?.(response.usage);
  const parsed = parseJson(response.text);
  if (response.status >= 400) throw errorOfResponse(response, refusal.safeParse(parsed).data?.error);
  const checked = responses[200].safeParse(parsed);
  if (response.status !== 200 || !checked.success) throw unusableResponse(response.status, checked.error);
  return checked.data as Response<R>;
}

/** By itself a connection would wait for five minutes, which is less than an attempt may take. */
const endless = { headersTimeout: 0, bodyTimeout: 0 };

// `fetch` would need twice the CPU time, and indexing a large document makes sixty calls.
async function send(
  url: string,
  { body, onProgress, ...options }: Omit<RequestOptions, 'onUsage'> & { method: string },
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
    const { 'retry-after': retryAfter, [usageHeader]: usage } = response.headers;
    const text = await response.body.text();
    return { status: response.statusCode, retryAfter: retryAfter?.toString(), usage: usage?.toString(), text };
  } catch (error) {
    signal?.throwIfAborted();
    if (away.aborted) throw unreachable('unreachable', away.reason, { isSilent: true });
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
