import type { Logger } from 'pino';
import { ApiError } from '../contract/api-error.ts';
import type { Db } from '../db/connect.ts';
import type { Cursors } from '../domain/cursor.ts';
import type { JobRow } from '../domain/jobs/job-row.ts';
import { listChangedJobs, listJobsById } from '../domain/jobs/list-changed-jobs.ts';
import type { Caller } from './caller.ts';
import { toJobEvent } from './presenters/job.ts';
import type { StreamEvent } from './procedure.ts';

/** How a caller stands towards an organization: whether the session lives, and with which role they are its member. */
export interface Standing {
  signedIn: boolean;
  role: string | null;
}

export interface OpenStream {
  caller: Caller;
  organizationId: string;
  workspaceId: string | undefined;
  lastEventId: string | undefined;
  signal: AbortSignal;
}

/** The open job streams of this process (spec §6). */
export interface JobStreams {
  /** A stream's events; its first one is refused with TOO_MANY_REQUESTS when the user holds five already. */
  open(stream: OpenStream): AsyncIterable<StreamEvent>;
  /** A job changed: `organizationId jobId`, as the database notifies. */
  notify(payload: string): void;
  /** Notifications may have been lost: every open stream reads what changed since its last event. */
  replayAll(): void;
  /** Ends every stream, so that the process can stop. */
  close(): void;
}

export interface JobStreamsOptions {
  db: Db;
  cursors: Cursors;
  log: Logger;
  findStanding(caller: Caller, organizationId: string): Promise<Standing>;
  limits?: Partial<typeof defaultLimits>;
}

const defaultLimits = { perUser: 5, lifetimeMs: 15 * 60_000, recheckMs: 30_000, maxPending: 1_000 };
const replayPage = 200;

/** One subscriber: the jobs that changed since it last read, each once, and what else it must know. */
interface Subscriber {
  organizationId: string;
  workspaceId: string | undefined;
  pending: Map<string, JobRow>;
  replay: boolean;
  ended: ApiError | 'ended' | undefined;
  wake(): void;
}

export function createJobStreams(options: JobStreamsOptions): JobStreams {
  const { db, cursors, log } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const byOrganization = new Map<string, Set<Subscriber>>();
  const openByUser = new Map<string, number>();
  let changed = new Set<string>();

  async function deliver(): Promise<void> {
    const ids = [...changed];
    changed = new Set();
    try {
      for (const job of await listJobsById(db, ids)) {
        for (const subscriber of byOrganization.get(job.organization_id) ?? []) push(subscriber, job);
      }
    } catch (error) {
      log.warn({ err: error }, 'changed jobs could not be read; the streams replay');
      for (const subscribers of byOrganization.values()) for (const subscriber of subscribers) requestReplay(subscriber);
    }
  }

  function push(subscriber: Subscriber, job: JobRow): void {
    if (subscriber.workspaceId !== undefined && subscriber.workspaceId !== job.workspace_id) return;
    subscriber.pending.delete(job.id);
    subscriber.pending.set(job.id, job);
    // A reader this slow is dropped, not buffered: it reconnects and resumes.
    if (subscriber.pending.size > limits.maxPending) subscriber.ended = 'ended';
    subscriber.wake();
  }

  async function* events(stream: OpenStream): AsyncGenerator<StreamEvent> {
    const release = takePlace(stream.caller.userId);
    const subscriber = subscribe(stream);
    const timers = watch(stream, subscriber);
    const scope = `job-events:${stream.organizationId}`;
    try {
      let since = new Date();
      if (stream.lastEventId !== undefined) {
        since = decodeEventId(cursors, scope, stream.lastEventId);
        subscriber.replay = true;
      }
      while (subscriber.ended === undefined) {
        if (subscriber.replay) {
          subscriber.replay = false;
          for await (const job of changedSince(stream, since)) {
            if (subscriber.ended !== undefined) break;
            yield toEvent(job);
            since = later(since, job.updated_at);
          }
        }
        const next = subscriber.pending.values().next().value;
        if (next) {
          subscriber.pending.delete(next.id);
          yield toEvent(next);
          since = later(since, next.updated_at);
        } else if (!subscriber.replay && subscriber.ended === undefined) {
          await idle(subscriber);
        }
      }
      if (subscriber.ended !== 'ended') throw subscriber.ended;
    } finally {
      timers.stop();
      byOrganization.get(stream.organizationId)?.delete(subscriber);
      release();
    }

    function toEvent(job: JobRow): StreamEvent {
      return { id: cursors.encode(scope, { createdAt: job.updated_at, id: job.id }), data: toJobEvent(job) };
    }
  }

  function takePlace(userId: string): () => void {
    const open = openByUser.get(userId) ?? 0;
    if (open >= limits.perUser) {
      throw new ApiError('TOO_MANY_REQUESTS', { message: `A user may hold ${limits.perUser} job streams at once.` });
    }
    openByUser.set(userId, open + 1);
    return () => {
      const left = (openByUser.get(userId) ?? 1) - 1;
      if (left === 0) openByUser.delete(userId);
      else openByUser.set(userId, left);
    };
  }

  function subscribe({ organizationId, workspaceId }: OpenStream): Subscriber {
    const subscriber: Subscriber = { organizationId, workspaceId, pending: new Map(), replay: false, ended: undefined, wake() {} };
    const subscribers = byOrganization.get(organizationId) ?? new Set();
    byOrganization.set(organizationId, subscribers.add(subscriber));
    return subscriber;
  }

  /** Ends the stream when the client leaves, its time is over, or the caller may no longer see it. */
  function watch(stream: OpenStream, subscriber: Subscriber): { stop(): void } {
    let role: string | null | undefined;
    const recheck = async () => {
      try {
        const standing = await options.findStanding(stream.caller, stream.organizationId);
        if (!standing.signedIn) end(subscriber, new ApiError('UNAUTHORIZED'));
        else if (standing.role === null || (role !== undefined && standing.role !== role)) end(subscriber, new ApiError('FORBIDDEN'));
        role = standing.role;
      } catch (error) {
        log.warn({ err: error }, 'a stream could not be authorized again; it is asked at the next turn');
      }
    };
    void recheck();
    const interval = setInterval(() => void recheck(), limits.recheckMs);
    const lifetime = setTimeout(() => end(subscriber, 'ended'), limits.lifetimeMs);
    const leave = () => end(subscriber, 'ended');
    stream.signal.addEventListener('abort', leave);
    if (stream.signal.aborted) leave();
    return {
      stop() {
        clearInterval(interval);
        clearTimeout(lifetime);
        stream.signal.removeEventListener('abort', leave);
      },
    };
  }

  async function* changedSince({ organizationId, workspaceId }: OpenStream, since: Date): AsyncGenerator<JobRow> {
    for (let after: JobRow | undefined; ; ) {
      const page: JobRow[] = await listChangedJobs(db, { organizationId, since, after, limit: replayPage });
      for (const job of page) if (workspaceId === undefined || job.workspace_id === workspaceId) yield job;
      after = page.at(-1);
      if (page.length < replayPage) return;
    }
  }

  function* all(): Generator<Subscriber> {
    for (const subscribers of byOrganization.values()) yield* subscribers;
  }

  return {
    open: events,
    notify(payload) {
      const [organizationId = '', jobId = ''] = payload.split(' ');
      if (!byOrganization.get(organizationId)?.size) return;
      if (changed.size === 0) setImmediate(() => void deliver());
      changed.add(jobId);
    },
    replayAll() {
      for (const subscriber of all()) requestReplay(subscriber);
    },
    close() {
      for (const subscriber of all()) end(subscriber, 'ended');
    },
  };
}

function requestReplay(subscriber: Subscriber): void {
  subscriber.replay = true;
  subscriber.wake();
}

function end(subscriber: Subscriber, reason: ApiError | 'ended'): void {
  subscriber.ended ??= reason;
  subscriber.wake();
}

function idle(subscriber: Subscriber): Promise<void> {
  return new Promise((resolve) => {
    subscriber.wake = resolve;
  });
}

function later(a: Date, b: Date): Date {
  return a > b ? a : b;
}

function decodeEventId(cursors: Cursors, scope: string, eventId: string): Date {
  try {
    return cursors.decode(scope, eventId).createdAt;
  } catch {
    const message = 'The Last-Event-Id was not issued by this stream.';
    throw new ApiError('BAD_REQUEST', { message, data: { issues: [{ path: ['Last-Event-Id'], message }] } });
  }
}
