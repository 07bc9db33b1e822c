import { ORPCError } from '@orpc/client';
import { RPCLink } from '@orpc/client/fetch';
import { lostResponse, SheafError, unexpectedResponse, withRootHint } from './errors.ts';
import { parseRetryAfter } from './retry-after.ts';
import type { Session } from './session.ts';

/** The headers of a response, and the error of a body without an envelope. */
interface ResponseInfo {
  headers: Record<string, string | string[] | undefined>;
  bareError?: string | undefined;
}

interface CallContext {
  headers: Record<string, string>;
  signal: AbortSignal | undefined;
  response?: ResponseInfo;
  /** Whether there is a request: an error before is of the input. */
  isAsked?: boolean;
  /** Called for every chunk of a stream, including keep-alives. */
  onBytes?: (() => void) | undefined;
}

export interface Sent {
  path: string[];
  input: unknown;
  signal: AbortSignal | undefined;
  idempotencyKey?: string | undefined;
  lastEventId?: string | undefined;
  streamId?: string | undefined;
  onBytes?: (() => void) | undefined;
}

/** Makes a call, without retries. */
export interface Transport {
  /**
   * Returns the output, and for a stream the id of the last event before it, if the service sends it. Rejects with SheafError, also if the
   * signal aborts; with another error if the input cannot be sent.
   */
  send(sent: Sent): Promise<{ output: unknown; lastEventId: string | undefined }>;
}

/** Creates the transport over `/rpc`, in the protocol of oRPC. */
export function createTransport({ url, session, fetch }: { url: string; session: Session; fetch: typeof globalThis.fetch }): Transport {
  const link = new RPCLink<CallContext>({
    url: `${url}/rpc`,
    headers: ({ context }) => context.headers,
    fetch: async (request, init, { context }) => {
      context.isAsked = true;
      // Named once more, because a request follows its signal only until it is collected as garbage (undici), which may be while
      // its response is read.
      const response = await fetch(request, { ...init, credentials: session.credentials, signal: context.signal ?? null });
      return context.onBytes ? watched(response, context.onBytes) : response;
    },
    clientInterceptors: [
      async ({ next, context }) => {
        const response = await next();
        context.response = { headers: response.headers };
        if (response.status >= 400) context.response.bareError = bareErrorIn(await response.body());
        return response;
      },
    ],
  });
  return {
    async send({ path, input, signal, idempotencyKey, lastEventId, streamId, onBytes }) {
      const headers = session.headers();
      if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey;
      if (streamId !== undefined) headers['stream-id'] = streamId;
      const context: CallContext = { headers, signal, onBytes };
      try {
        const output = await link.call(path, input, { context, signal, lastEventId });
        if (output === undefined) throw unexpectedResponse(url);
        return { output, lastEventId: header(context.response, 'last-event-id') };
      } catch (error) {
        // A request that cannot be sent, for example because its idempotency key does not fit a header, is no network failure.
        if (!context.isAsked && !signal?.aborted) throw error;
        throw withRootHint(toSheafError(error, context.response), url);
      }
    },
  };
}

/** Converts any error of a call or its stream into the error for callers of the client. */
export function toSheafError(error: unknown, response?: ResponseInfo): SheafError {
  if (error instanceof SheafError) return error;
  if (!(error instanceof ORPCError)) return lostResponse(error);
  const { code, message, status, defined, data } = error;
  return new SheafError(response?.bareError ?? code, message, {
    status,
    defined,
    data: defined ? data : undefined,
    requestId: header(response, 'x-request-id'),
    retryAfterMs: parseRetryAfter(header(response, 'retry-after')),
    cause: error,
  });
}

function header(response: ResponseInfo | undefined, name: string): string | undefined {
  const value = response?.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function bareErrorIn(body: unknown): string | undefined {
  const named = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined;
  return typeof named === 'string' ? named : undefined;
}

function watched(response: Response, onBytes: () => void): Response {
  if (!response.body || !response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
  const watch = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      onBytes();
      controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(watch), { status: response.status, headers: response.headers });
}
