import { operations, type Repetition } from './operations.ts';
import { type RetryOptions, withDeadline, withRetries } from './retry.ts';
import { longestMs } from './retry-after.ts';
import type { Connection } from './stream.ts';
import type { Sent, Transport } from './transport.ts';
import type { CallOptions } from './types.ts';

/** Longer than the slowest operation, the deletion of an organization, which may take a minute to respond. */
export const defaultTimeoutMs = 75_000;

export interface Calling {
  transport: Transport;
  retries: RetryOptions;
  timeoutMs: number;
}

type Call = (input?: object, options?: CallOptions) => Promise<unknown>;
interface CallTree {
  [name: string]: Call | CallTree;
}

/** Every operation as a function, by group and name. */
export function createCalls(calling: Calling): CallTree {
  return toCalls(calling, operations as unknown as OperationTree, []);
}

interface OperationTree {
  [name: string]: Repetition | OperationTree;
}

function toCalls(calling: Calling, tree: OperationTree, above: string[]): CallTree {
  return Object.fromEntries(
    Object.entries(tree).map(([name, node]) => {
      const path = [...above, name];
      return [name, typeof node === 'string' ? toCall(calling, path, node) : toCalls(calling, node, path)];
    }),
  );
}

function toCall({ transport, retries, timeoutMs }: Calling, path: string[], repetition: Repetition): Call {
  return async (input = {}, options = {}) => {
    const { signal } = options;
    const idempotencyKey = repetition === 'keyed' ? (options.idempotencyKey ?? newKey()) : undefined;
    return withRetries({ retries, repetition, signal }, async () => {
      const either = withDeadline(options.timeoutMs ?? timeoutMs, signal);
      return (await transport.send({ path, input, signal: either, idempotencyKey })).output;
    });
  };
}

/** Opens one connection of a stream. It ends when the signal aborts, or when it is silent for too long. */
export async function connect<Event>(
  { transport, timeoutMs, retries }: Calling,
  { signal, ...stream }: Pick<Sent, 'path' | 'input' | 'streamId' | 'idempotencyKey' | 'lastEventId'> & { signal: AbortSignal },
): Promise<Connection<Event>> {
  const silent = new AbortController();
  const giveUp = () => silent.abort(new DOMException('The stream is silent.', 'TimeoutError'));
  const expect = (withinMs: number) => setTimeout(giveUp, Math.min(withinMs, longestMs));
  let timer = expect(timeoutMs);
  let isOver = false;
  const heard = () => {
    clearTimeout(timer);
    // Bytes that arrive after the end must not start a timer, which would keep the process alive.
    if (!isOver) timer = expect(retries.maxSilenceMs);
  };
  const over = () => {
    isOver = true;
    clearTimeout(timer);
    signal.removeEventListener('abort', over);
  };
  signal.addEventListener('abort', over, { once: true });
  try {
    const sent = { ...stream, signal: AbortSignal.any([signal, silent.signal]), onBytes: heard };
    const { output, lastEventId: begin } = await transport.send(sent);
    heard();
    return { events: untilOver(output as Connection<Event>['events'], over), lastEventId: begin };
  } catch (error) {
    over();
    throw error;
  }
}

function untilOver<Event>(events: AsyncIterator<Event>, over: () => void): AsyncIterator<Event> {
  return {
    async next() {
      try {
        const next = await events.next();
        if (next.done) over();
        return next;
      } catch (error) {
        over();
        throw error;
      }
    },
    async return() {
      over();
      await events.return?.();
      return { done: true, value: undefined };
    },
  };
}

/** A random key. Not randomUUID, because browsers have it only on secure pages. */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
