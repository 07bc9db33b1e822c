import { AsyncLocalStorage } from 'node:async_hooks';
import type { Logger } from 'pino';
import { ApiError } from '../../contract/api-error.ts';
import type { Db } from '../../db/connect.ts';
import { inShareOf } from '../../db/fair-share.ts';
import { readChangedJobs } from '../../domain/jobs/list-changed-jobs.ts';
import type { Cursors } from '../../domain/page.ts';
import type { StreamEvent } from '../procedure.ts';
import { createJobDelivery } from './deliver-jobs.ts';
import { HeldJobs } from './held-jobs.ts';
import { createRenderer, eventScope, JobSubscriber, type OpenStream, replayPageBytes } from './job-subscriber.ts';
import type { StreamLease, StreamLeases } from './leases.ts';
import { type FindMembership, reauthorize } from './reauthorize.ts';
import { SendBudget } from './send-budget.ts';
import { Subscribers } from './subscribers.ts';

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
interface StreamLimits {
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

export function createJobStreams(options: JobStreamsOptions): JobStreams {
  const { db, now, cursors, log, leases, findMembership } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const render = createRenderer(cursors);
  const held = new HeldJobs();
  const sending = new SendBudget({ totalBytes: limits.maxSendingBytes, patienceMs: limits.patienceMs });
  const replaying = new SendBudget({ totalBytes: limits.maxSendingBytes, patienceMs: limits.patienceMs });
  const subscribers = new Subscribers();
  const delivery = createJobDelivery({ db, log, subscribers, held, maxHeldBytes: limits.maxHeldBytes });

  function onSlow({ stream, pendingBytes }: JobSubscriber): void {
    const { organizationId, caller } = stream;
    log.warn({ organizationId, userId: caller.userId, pendingBytes, heldBytes: held.bytes }, 'a job stream ends: its reader is too slow');
  }

  async function* events(stream: OpenStream): AsyncGenerator<StreamEvent> {
    const subscriber = new JobSubscriber(stream, {
      ...limits,
      now,
      cursors,
      render,
      held,
      sending,
      replaying,
      // Bound to here: it is told by the delivery of a job, which is of no request.
      onSlow: AsyncLocalStorage.bind(onSlow),
      changedSince: (organizationId, from, admit) => readChangedJobs(db, organizationId, from, { maxBytes: replayPageBytes, admit }),
    });
    subscribers.add(subscriber);
    let lease: StreamLease | undefined;
    let stop = () => {};
    try {
      // Already subscribed, so that nothing is missed while the lease is acquired.
      lease = await acquireLease(stream.caller.userId);
      stop = watch(subscriber, lease);
      yield* subscriber.events();
    } finally {
      stop();
      subscribers.remove(subscriber);
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

  return {
    open: (stream) => inShare(stream.organizationId, events(stream)),
    position: (organizationId) => cursors.encode(eventScope(organizationId), { createdAt: now(), id: '' }),
    notify(payload) {
      const [organizationId = '', ...jobIds] = payload.split(' ');
      if (jobIds[0] === '*') delivery.replay(organizationId);
      else delivery.noteChanged(organizationId, jobIds);
    },
    replayAll: delivery.replayAll,
    count: () => subscribers.all().length,
    close() {
      for (const subscriber of subscribers.all()) subscriber.end('ended');
    },
  };
}

/** Whatever is done for these events waits for connections as the requests of the organization do. */
function inShare(organizationId: string, events: AsyncGenerator<StreamEvent>): AsyncIterable<StreamEvent> {
  const iterator: AsyncIterator<StreamEvent> = {
    next: () => inShareOf(organizationId, () => events.next()),
    return: () => inShareOf(organizationId, () => events.return(undefined)),
  };
  return { [Symbol.asyncIterator]: () => iterator };
}
