import type { Logger } from 'pino';
import { ApiError } from '../contract/api-error.ts';
import type { Db } from '../db/connect.ts';
import type { Cursors } from '../domain/cursor.ts';
import { listJobsById, readChangedJobs } from '../domain/jobs/list-changed-jobs.ts';
import type { Caller } from './caller.ts';
import { eventScope, JobSubscriber, type OpenStream } from './job-subscriber.ts';
import type { StreamEvent } from './procedure.ts';
import type { StreamPlace, StreamPlaces } from './stream-places.ts';

/** How a caller stands towards an organization: whether the session lives, and with which role they are its member. */
export interface Standing {
  signedIn: boolean;
  role: string | null;
}

/** The open job streams of this process (spec §6). */
export interface JobStreams {
  /** A stream's events; its first one is refused with TOO_MANY_REQUESTS when the user holds five already. */
  open(stream: OpenStream): AsyncIterable<StreamEvent>;
  /** The event id of this moment: a stream that broke off before its first event goes on after it. */
  position(organizationId: string): string;
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
  /** Where a stream takes its place among those of its user. */
  places: StreamPlaces;
  findStanding(caller: Caller, organizationId: string): Promise<Standing>;
  limits?: Partial<StreamLimits>;
}

/** How long a stream lives, how often its caller is authorized again, and when a slow reader is dropped (spec §8). */
export interface StreamLimits {
  lifetimeMs: number;
  recheckMs: number;
  maxPending: number;
  patienceMs: number;
}

const defaultLimits: StreamLimits = { lifetimeMs: 15 * 60_000, recheckMs: 30_000, maxPending: 1_000, patienceMs: 5_000 };

export function createJobStreams(options: JobStreamsOptions): JobStreams {
  const { db, cursors, log, places } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const byOrganization = new Map<string, Set<JobSubscriber>>();
  let changed = new Set<string>();
  let delivering = false;

  /** One read at a time, so that a job's older state never comes after its newer one. */
  async function deliver(): Promise<void> {
    for (let ids = [...changed]; ids.length > 0; ids = [...changed]) {
      changed = new Set();
      try {
        for (const job of await listJobsById(db, ids)) {
          for (const subscriber of byOrganization.get(job.organization_id) ?? []) subscriber.push(job);
        }
      } catch (error) {
        log.warn({ err: error }, 'changed jobs could not be read; the streams replay');
        replayAll();
      }
    }
    delivering = false;
  }

  async function* events(stream: OpenStream): AsyncGenerator<StreamEvent> {
    const subscriber = new JobSubscriber(stream, { ...limits, cursors, changedSince: (...args) => readChangedJobs(db, ...args) });
    const subscribers = byOrganization.get(stream.organizationId) ?? new Set();
    byOrganization.set(stream.organizationId, subscribers.add(subscriber));
    let place: StreamPlace | undefined;
    let stop = () => {};
    try {
      // Subscribed before: what happens while the place is taken is not missed.
      place = await takePlace(stream.caller.userId);
      stop = watch(subscriber, place);
      yield* subscriber.events();
    } finally {
      stop();
      subscribers.delete(subscriber);
      if (subscribers.size === 0) byOrganization.delete(stream.organizationId);
      await place?.leave().catch((error: unknown) => log.warn({ err: error }, "a stream's place was not freed; its lease ends by itself"));
    }
  }

  async function takePlace(userId: string): Promise<StreamPlace> {
    const place = await places.take(userId);
    if (place) return place;
    throw new ApiError('TOO_MANY_REQUESTS', { message: `A user may hold ${places.perUser} job streams at once.` });
  }

  /** Ends the stream when the client leaves, its time is over, or the caller may no longer see it. */
  function watch(subscriber: JobSubscriber, place: StreamPlace): () => void {
    const { caller, organizationId, signal } = subscriber.stream;
    let role: string | null | undefined;
    const recheck = async () => {
      try {
        const standing = await options.findStanding(caller, organizationId);
        if (!standing.signedIn) subscriber.end(new ApiError('UNAUTHORIZED'));
        else if (standing.role === null || (role !== undefined && standing.role !== role)) subscriber.end(new ApiError('FORBIDDEN'));
        role = standing.role;
        if (!(await place.keep())) subscriber.end('ended');
      } catch (error) {
        log.warn({ err: error }, 'a stream could not be authorized again; it is asked at the next turn');
      }
    };
    void recheck();
    const interval = setInterval(() => void recheck(), limits.recheckMs);
    const lifetime = setTimeout(() => subscriber.end('ended'), limits.lifetimeMs);
    const leave = () => subscriber.end('ended');
    signal.addEventListener('abort', leave);
    if (signal.aborted) leave();
    return () => {
      clearInterval(interval);
      clearTimeout(lifetime);
      signal.removeEventListener('abort', leave);
    };
  }

  function* all(): Generator<JobSubscriber> {
    for (const subscribers of byOrganization.values()) yield* subscribers;
  }

  function replayAll(): void {
    for (const subscriber of all()) subscriber.replay();
  }

  return {
    open: events,
    position: (organizationId) => cursors.encode(eventScope(organizationId), { createdAt: new Date(), id: '' }),
    notify(payload) {
      const [organizationId = '', jobId = ''] = payload.split(' ');
      if (!byOrganization.has(organizationId)) return;
      changed.add(jobId);
      if (delivering) return;
      delivering = true;
      setImmediate(() => void deliver());
    },
    replayAll,
    close() {
      for (const subscriber of all()) subscriber.end('ended');
    },
  };
}
