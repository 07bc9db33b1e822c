import type { Logger } from 'pino';
import { ApiError } from '../../contract/api-error.ts';
import type { Db } from '../../db/connect.ts';
import { type ChangedJob, readChangedJobs, readJobsById } from '../../domain/jobs/list-changed-jobs.ts';
import type { Cursors } from '../../domain/page.ts';
import type { StreamEvent } from '../procedure.ts';
import { HeldJobs } from './held-jobs.ts';
import { eventScope, JobSubscriber, type OpenStream, replayPageBytes } from './job-subscriber.ts';
import type { StreamLease, StreamLeases } from './leases.ts';
import { type FindMembership, reauthorize } from './reauthorize.ts';
import { SendBudget } from './send-budget.ts';

/** The open job streams of this process. */
export interface JobStreams {
  /** The events of a new stream. Reading the first one throws TOO_MANY_REQUESTS if the user has five streams already. */
  open(stream: OpenStream): AsyncIterable<StreamEvent>;
  /** The event id of this moment. A stream that breaks off before its first event resumes from it. */
  position(organizationId: string): string;
  /** Called with the database's notification of jobs that changed: `organizationId jobId jobId …`, or `organizationId *` for many. */
  notify(payload: string): void;
  /** Called if notifications may have been lost: every open stream reads what changed since its last event. */
  replayAll(): void;
  /** How many streams are open. */
  count(): number;
  /** Ends every stream, so that the process can stop. */
  close(): void;
}

export interface JobStreamsOptions {
  db: Db;
  /** The database's time. */
  now(): Date;
  cursors: Cursors;
  log: Logger;
  /** Each stream acquires one of its user's leases here. */
  leases: StreamLeases;
  findMembership: FindMembership;
  limits?: Partial<StreamLimits>;
}

/** How long a stream lives, how often its caller is authorized again, and how slow a reader may be. */
export interface StreamLimits {
  lifetimeMs: number;
  recheckMs: number;
  maxPending: number;
  maxPendingBytes: number;
  /** How large the jobs that wait for all readers may be, in bytes, and the large events on their way. */
  maxHeldBytes: number;
  maxSendingBytes: number;
  stallMs: number;
  patienceMs: number;
}

const megabyte = 1024 * 1024;
const defaultLimits: StreamLimits = {
  lifetimeMs: 15 * 60_000,
  recheckMs: 30_000,
  maxPending: 1_000,
  maxPendingBytes: 8 * megabyte,
  maxHeldBytes: 48 * megabyte,
  maxSendingBytes: 16 * megabyte,
  stallMs: 20_000,
  patienceMs: 5_000,
};

const jobsPerRead = 200;
const bytesPerRead = megabyte;
/** An organization of which more jobs wait to be read has its streams replay instead. */
const mostChanged = 5_000;

export function createJobStreams(options: JobStreamsOptions): JobStreams {
  const { db, now, cursors, log, leases, findMembership } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const byOrganization = new Map<string, Set<JobSubscriber>>();
  const held = new HeldJobs();
  const sending = new SendBudget({ totalBytes: limits.maxSendingBytes, patienceMs: limits.patienceMs });
  const replaying = new SendBudget({ totalBytes: limits.maxSendingBytes, patienceMs: limits.patienceMs });
  /** The jobs to read, by organization. */
  const changed = new Map<string, Set<string>>();
  let delivering = false;

  /**
   * Reads changed jobs, one read at a time, so that an older state of a job never follows a newer one. The organizations take turns, so
   * that none waits until another's jobs are all read.
   */
  async function deliver(): Promise<void> {
    for (let [next] = changed; next; [next] = changed) {
      const [organizationId, ids] = next;
      changed.delete(organizationId);
      const subscribers = byOrganization.get(organizationId);
      if (!subscribers) continue;
      const batch = [...ids].slice(0, jobsPerRead);
      try {
        const { jobs, left } = await readJobsById(db, organizationId, batch, { maxBytes: bytesPerRead });
        noteChanged(organizationId, [...left, ...[...ids].slice(jobsPerRead)]);
        for (const job of jobs) push(subscribers, job);
      } catch (error) {
        log.warn({ err: error }, 'changed jobs could not be read; the streams replay');
        replayAll();
      }
    }
    delivering = false;
  }

  function push(subscribers: Iterable<JobSubscriber>, job: ChangedJob): void {
    for (const subscriber of subscribers) subscriber.push(job);
    while (held.bytes > limits.maxHeldBytes) {
      const [slowest] = [...all()].sort((one, other) => other.pendingBytes - one.pendingBytes);
      if (!slowest || slowest.pendingBytes === 0) return;
      slowest.drop();
    }
  }

  function noteChanged(organizationId: string, jobIds: string[]): void {
    if (jobIds.length === 0) return;
    const ids = changed.get(organizationId) ?? new Set();
    for (const id of jobIds) ids.add(id);
    if (ids.size <= mostChanged) changed.set(organizationId, ids);
    else replayOrganization(organizationId);
  }

  function replayOrganization(organizationId: string): void {
    changed.delete(organizationId);
    for (const subscriber of byOrganization.get(organizationId) ?? []) subscriber.replay();
  }

  function onSlow({ stream, pendingBytes }: JobSubscriber): void {
    const { organizationId, caller } = stream;
    log.warn({ organizationId, userId: caller.userId, pendingBytes, heldBytes: held.bytes }, 'a job stream ends: its reader is too slow');
  }

  async function* events(stream: OpenStream): AsyncGenerator<StreamEvent> {
    const subscriber = new JobSubscriber(stream, {
      ...limits,
      now,
      cursors,
      held,
      sending,
      replaying,
      onSlow,
      changedSince: (organizationId, from, admit) => readChangedJobs(db, organizationId, from, { maxBytes: replayPageBytes, admit }),
    });
    const subscribers = byOrganization.get(stream.organizationId) ?? new Set();
    byOrganization.set(stream.organizationId, subscribers.add(subscriber));
    let lease: StreamLease | undefined;
    let stop = () => {};
    try {
      // Already subscribed, so that nothing is missed while the lease is acquired.
      lease = await acquireLease(stream.caller.userId);
      stop = watch(subscriber, lease);
      yield* subscriber.events();
    } finally {
      stop();
      subscribers.delete(subscriber);
      if (subscribers.size === 0) byOrganization.delete(stream.organizationId);
      await lease?.release().catch((error: unknown) => log.warn({ err: error }, "a stream's lease was not released; it ends by itself"));
    }
  }

  async function acquireLease(userId: string): Promise<StreamLease> {
    const lease = await leases.acquire(userId);
    if (lease) return lease;
    throw new ApiError('TOO_MANY_REQUESTS', { message: `A user may hold ${leases.perUser} job streams at once.` });
  }

  /** Ends the stream when the client leaves, its lifetime is over, its lease is lost, or its caller may no longer see it. */
  function watch(subscriber: JobSubscriber, lease: StreamLease): () => void {
    const { signal } = subscriber.stream;
    const stopReauthorizing = reauthorize(subscriber, lease, { findMembership, everyMs: limits.recheckMs, log });
    const lifetime = setTimeout(() => subscriber.end('ended'), limits.lifetimeMs);
    const leave = () => subscriber.end('ended');
    signal.addEventListener('abort', leave);
    if (signal.aborted) leave();
    return () => {
      stopReauthorizing();
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
    position: (organizationId) => cursors.encode(eventScope(organizationId), { createdAt: now(), id: '' }),
    notify(payload) {
      const [organizationId = '', ...jobIds] = payload.split(' ');
      if (!byOrganization.has(organizationId)) return;
      if (jobIds[0] === '*') return replayOrganization(organizationId);
      noteChanged(organizationId, jobIds);
      if (delivering) return;
      delivering = true;
      setImmediate(() => void deliver());
    },
    replayAll,
    count: () => [...all()].length,
    close() {
      for (const subscriber of all()) subscriber.end('ended');
    },
  };
}
