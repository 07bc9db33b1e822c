import { ORPCError } from '@orpc/client';
import { RPCLink } from '@orpc/client/fetch';
import { lostAnswer, SheafError } from './errors.ts';
import { parseRetryAfter } from './retry.ts';
import type { Session } from './session.ts';

/** What the head of an answer says, and the bare error of a body that has no envelope. */
interface Answer {
  headers: Record<string, string | string[] | undefined>;
  bareError?: string | undefined;
}

interface CallContext {
  headers: Record<string, string>;
  answer?: Answer;
  /** Called for every piece of a stream, keep-alives included. */
  onBytes?: (() => void) | undefined;
}

export interface Sent {
  path: string[];
  input: unknown;
  signal: AbortSignal | undefined;
  idempotencyKey?: string | undefined;
  lastEventId?: string | undefined;
  onBytes?: (() => void) | undefined;
}

/** Makes one try of one call. */
export interface Transport {
  /** Answers the output, and the id of the last event before a stream begins, where the service tells it. Rejects with SheafError, also when the signal aborts. */
  send(sent: Sent): Promise<{ output: unknown; lastEventId: string | undefined }>;
}

/** The transport over `/rpc`, in oRPC's protocol. */
export function createTransport({ url, session, fetch }: { url: string; session: Session; fetch: typeof globalThis.fetch }): Transport {
  const link = new RPCLink<CallContext>({
    url: `${url}/rpc`,
    headers: ({ context }) => context.headers,
    fetch: async (request, init, { context }) => {
      const response = await fetch(request, { ...init, credentials: session.credentials });
      return context.onBytes ? watched(response, context.onBytes) : response;
    },
    clientInterceptors: [
      async ({ next, context }) => {
        const response = await next();
        context.answer = { headers: response.headers };
        if (response.status >= 400) context.answer.bareError = bareErrorIn(await response.body());
        return response;
      },
    ],
  });
  return {
    async send({ path, input, signal, idempotencyKey, lastEventId, onBytes }) {
      const key: Record<string, string> = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
      const context: CallContext = { headers: { ...session.headers(), ...key }, onBytes };
      try {
        const output = await link.call(path, input, { context, signal, lastEventId });
        if (output === undefined) throw new SheafError('UNEXPECTED_ANSWER', `What answers at ${url} is not this service.`);
        return { output, lastEventId: header(context.answer, 'last-event-id') };
      } catch (error) {
        throw toSheafError(error, context.answer);
      }
    },
  };
}

/** Any error of a call or of its stream, as the error that the client's callers see. */
export function toSheafError(error: unknown, answer?: Answer): SheafError {
  if (error instanceof SheafError) return error;
  if (!(error instanceof ORPCError)) return lostAnswer(error);
  const { code, message, status, defined, data } = error;
  return new SheafError(answer?.bareError ?? code, message, {
    status,
    defined,
    data: defined ? data : undefined,
    requestId: header(answer, 'x-request-id'),
    retryAfterMs: parseRetryAfter(header(answer, 'retry-after')),
    cause: error,
  });
}

function header(answer: Answer | undefined, name: string): string | undefined {
  const value = answer?.headers[name];
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
