import { getEventMeta } from '@orpc/client';
import type { SheafError } from './errors.ts';
import { backoff, delayBefore, type RetryOptions, sleep } from './retry.ts';
import { toSheafError } from './transport.ts';
import type { JobEvent } from './types.ts';

/** A connection that lived so long was not refused: what follows it is no further failure in a row. */
const settledMs = 10_000;
const maxRemembered = 10_000;

export interface StreamOptions {
  /** Ends the stream: the loop over it then ends without an error. */
  signal?: AbortSignal | undefined;
  /** Goes on after this event, instead of with what happens next. */
  lastEventId?: string | undefined;
}

/** The changes of an organization's jobs, through every break of the connection. */
export interface JobStream extends AsyncIterableIterator<JobEvent, undefined, undefined> {
  /** The id of the last event that was read: where another stream can go on. */
  readonly lastEventId: string | undefined;
  /** Hangs up, also while an event is waited for. */
  return(): Promise<IteratorResult<JobEvent, undefined>>;
}

/** One connection. */
export interface Connection {
  events: AsyncIterator<JobEvent>;
  /** Where the connection began, if the service tells it. */
  lastEventId: string | undefined;
}

export interface Following {
  /** The first connection, open already. */
  first: Connection;
  open(lastEventId: string | undefined): Promise<Connection>;
  retries: RetryOptions;
  /** Ends the loop; `hangUp` aborts it. */
  signal: AbortSignal;
  hangUp(): void;
  lastEventId: string | undefined;
}

/** Follows jobs over one connection after the other. What a new connection repeats is left out. */
export function followJobs({ first, open, retries, signal, hangUp, lastEventId }: Following): JobStream {
  const isNew = repeatFilter();
  const position = { lastEventId: lastEventId ?? first.lastEventId };

  async function* events(): AsyncGenerator<JobEvent, undefined, undefined> {
    let connection: Connection | undefined = first;
    let failures = 0;
    while (!signal.aborted) {
      const since = Date.now();
      let failure: SheafError | undefined;
      try {
        connection ??= await open(position.lastEventId);
        position.lastEventId ??= connection.lastEventId;
        for await (const event of iterate(connection)) {
          failures = 0;
          position.lastEventId = getEventMeta(event)?.id ?? position.lastEventId;
          if (isNew(event)) yield event;
        }
      } catch (error) {
        if (signal.aborted) break;
        failure = toSheafError(error);
        if (isLasting(failure)) throw failure;
      }
      connection = undefined;
      if (Date.now() - since > settledMs) failures = 0;
      failures += 1;
      if (failure && failures > (failure.status === 429 ? retries.attempts : retries.reconnects)) throw failure;
      const delayMs = failure ? delayBefore(failure, failures, retries) : backoff(failures, retries);
      if (delayMs === undefined) throw failure;
      await sleep(delayMs, signal).catch(() => undefined);
    }
    return undefined;
  }

  const generator = events();
  return {
    get lastEventId() {
      return position.lastEventId;
    },
    next: () => generator.next(),
    return: () => {
      hangUp();
      return generator.return(undefined);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

async function* iterate({ events }: Connection): AsyncGenerator<JobEvent> {
  try {
    for (let next = await events.next(); !next.done; next = await events.next()) yield next.value;
  } finally {
    void Promise.resolve(events.return?.()).catch(() => undefined);
  }
}

/** The caller's own fault, or the end of a permission: asking again changes nothing. */
function isLasting({ status }: SheafError): boolean {
  return status >= 400 && status < 500 && status !== 429;
}

/** Tells whether an event says something that its job's earlier ones did not. An event is the whole job, so one that is older says nothing. */
function repeatFilter(): (event: JobEvent) => boolean {
  const seen = new Map<string, { updatedAt: string; state: string }>();
  return (event) => {
    const { id, updatedAt, status, attempts } = event;
    const state = `${status} ${attempts}`;
    const known = seen.get(id);
    if (known && (known.updatedAt > updatedAt || (known.updatedAt === updatedAt && known.state === state))) return false;
    seen.delete(id);
    seen.set(id, { updatedAt, state });
    const [oldest] = seen.keys();
    if (oldest !== undefined && seen.size > maxRemembered) seen.delete(oldest);
    return true;
  };
}
