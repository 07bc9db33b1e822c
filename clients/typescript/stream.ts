import { getEventMeta } from '@orpc/client';
import type { SheafError } from './errors.ts';
import { backoff, delayBefore, type RetryOptions, sleep } from './retry.ts';
import { toSheafError } from './transport.ts';
import type { JobEvent } from './types.ts';

/** A connection that lasted this long was not refused, so the count of consecutive failures starts again. */
const settledMs = 10_000;
const maxRemembered = 10_000;

export interface StreamOptions {
  /** Ends the stream: the loop over it then ends without an error. */
  signal?: AbortSignal | undefined;
  /** Starts after this event, instead of with the next change. */
  lastEventId?: string | undefined;
}

/** The changes of an organization's jobs, across reconnections. */
export interface JobStream extends AsyncIterableIterator<JobEvent, undefined, undefined> {
  /** The id of the last event that was read, after which another stream can start. */
  readonly lastEventId: string | undefined;
  /** Closes the stream, also while it waits for an event. */
  return(): Promise<IteratorResult<JobEvent, undefined>>;
}

/** One connection. */
export interface Connection<Event = JobEvent> {
  events: AsyncIterator<Event>;
  /** The id of the last event before this connection, if the service sends it. */
  lastEventId: string | undefined;
}

interface Following {
  /** The first connection, which is already open. */
  first: Connection;
  open(lastEventId: string | undefined): Promise<Connection>;
  retries: RetryOptions;
  /** Ends the loop; `hangUp` aborts it. */
  signal: AbortSignal;
  hangUp(): void;
  lastEventId: string | undefined;
}

/** Follows jobs over successive connections. Events that a new connection repeats are left out. */
export function followJobs(following: Following): JobStream {
  const position = { lastEventId: following.lastEventId ?? following.first.lastEventId };
  const generator = jobEvents(following, position);
  return {
    get lastEventId() {
      return position.lastEventId;
    },
    next: () => generator.next(),
    return: () => {
      following.hangUp();
      return generator.return(undefined);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

async function* jobEvents(
  { first, open, retries, signal }: Following,
  position: { lastEventId: string | undefined },
): AsyncGenerator<JobEvent, undefined, undefined> {
  const isNew = repeatFilter();
  let connection: Connection | undefined = first;
  let failures = 0;
  let wasAdmitted = false;
  while (!signal.aborted) {
    const since = Date.now();
    let failure: SheafError | undefined;
    try {
      connection ??= await open(position.lastEventId);
      position.lastEventId ??= connection.lastEventId;
      for await (const event of iterate(connection)) {
        failures = 0;
        wasAdmitted = true;
        position.lastEventId = getEventMeta(event)?.id ?? position.lastEventId;
        if (isNew(event)) yield event;
      }
    } catch (error) {
      if (signal.aborted) break;
      failure = toSheafError(error);
      if (isPermanent(failure)) throw failure;
    }
    connection = undefined;
    wasAdmitted ||= failure?.status !== 429;
    if (Date.now() - since > settledMs) failures = 0;
    failures += 1;
    await sleep(reconnectDelay({ failure, failures, wasAdmitted }, retries), signal).catch(() => undefined);
  }
  return undefined;
}

interface Break {
  failure: SheafError | undefined;
  failures: number;
  wasAdmitted: boolean;
}

/** How long to wait before the next connection. Throws the failure if there have been too many, or if it asks for too long a wait. */
function reconnectDelay({ failure, failures, wasAdmitted }: Break, retries: RetryOptions): number {
  if (!failure) return backoff(failures, retries);
  // A stream that was open may still count at the service, which notices only later that the connection broke.
  const limit = failure.status === 429 && !wasAdmitted ? retries.attempts : retries.reconnects;
  const delayMs = failures > limit ? undefined : delayBefore(failure, failures, retries);
  if (delayMs === undefined) throw failure;
  return delayMs;
}

/** The events of a connection. It is closed when the loop over them ends. */
export async function* iterate<Event>({ events }: Connection<Event>): AsyncGenerator<Event> {
  try {
    for (let next = await events.next(); !next.done; next = await events.next()) yield next.value;
  } finally {
    void Promise.resolve(events.return?.()).catch(() => undefined);
  }
}

/** A mistake of the caller or a lost permission, so that a retry is useless. */
function isPermanent({ status }: SheafError): boolean {
  return status >= 400 && status < 500 && status !== 429;
}

/** Returns whether an event is newer than the earlier ones of its job. Each event holds the whole job, so an older one is redundant. */
function repeatFilter(): (event: JobEvent) => boolean {
  const seen = new Map<string, { updatedAt: string; state: string }>();
  return (event) => {
    const { id, updatedAt, status, attempts, workspaceId } = event;
    const state = `${status} ${attempts} ${workspaceId}`;
    const known = seen.get(id);
    if (known && (known.updatedAt > updatedAt || (known.updatedAt === updatedAt && known.state === state))) return false;
    seen.delete(id);
    seen.set(id, { updatedAt, state });
    const [oldest] = seen.keys();
    if (oldest !== undefined && seen.size > maxRemembered) seen.delete(oldest);
    return true;
  };
}
