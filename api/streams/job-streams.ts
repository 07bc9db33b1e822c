import { AsyncLocalStorage } from 'node:async_hooks';
import type { Logger } from 'pino';
import { ApiError } from '../../contract/api-error.ts';
import type { Db } from '../../db/connect.ts';
import { type ChangedJob, readChangedJobs } from '../../domain/jobs/list-changed-jobs.ts';
import type { Cursors } from '../../domain/page.ts';
import type { StreamEvent } from '../procedure.ts';
import { HeldJobs } from './held-jobs.ts';
import { JobDelivery } from './job-delivery.ts';
import { createRenderer, encodeEventId } from './job-events.ts';
import { JobSubscriber, type OpenStream } from './job-subscriber.ts';
import type { StreamLease, StreamLeases } from './leases.ts';
import { type FindMembership, reauthorize } from './reauthorize.ts';
import { replayPageBytes } from './replay.ts';
import { SendBudget } from './send-budget.ts';
import { Subscribers } from './subscribers.ts';

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

/** The open job streams of this process. */
export class JobStreams {
  readonly #options: JobStreamsOptions;
  readonly #limits: StreamLimits;
  readonly #render: (job: ChangedJob) => StreamEvent;
  readonly #held = new HeldJobs();
  readonly #sending: SendBudget;
  readonly #replaying: SendBudget;
  readonly #subscribers = new Subscribers();
  readonly #delivery: JobDelivery;

  constructor(options: JobStreamsOptions) {
    const { db, log } = options;
    const limits = { ...defaultLimits, ...options.limits };
    const budget = { totalBytes: limits.maxSendingBytes, patienceMs: limits.patienceMs };
    this.#options = options;
    this.#limits = limits;
    this.#render = createRenderer(options.cursors);
    this.#sending = new SendBudget(budget);
    this.#replaying = new SendBudget(budget);
    this.#delivery = new JobDelivery({ db, log, subscribers: this.#subscribers, held: this.#held, maxHeldBytes: limits.maxHeldBytes });
  }

  /** The events of a new stream. Reading the first one throws TOO_MANY_REQUESTS if the user has five streams already. */
  open(stream: OpenStream): AsyncIterable<StreamEvent> {
    return this.#events(stream);
  }

  /** The event id of this moment. A stream that breaks off before its first event resumes from it. */
  position(organizationId: string): string {
    return encodeEventId(this.#options.cursors, organizationId, { createdAt: this.#options.now(), id: '' });
  }

  /** Call it with the database's notification of jobs that changed: `organizationId jobId jobId …`, or `organizationId *` for many. */
  notify(payload: string): void {
    const [organizationId = '', ...jobIds] = payload.split(' ');
    if (jobIds[0] === '*') this.#delivery.replay(organizationId);
    else this.#delivery.noteChanged(organizationId, jobIds);
  }

  /** Call it if notifications may have been lost: every open stream reads what changed since its last event. */
  replayAll(): void {
    this.#delivery.replayAll();
  }

  /** How many streams are open. */
  count(): number {
    return this.#subscribers.all().length;
  }

  /** Ends every stream, so that the process can stop. */
  close(): void {
    for (const subscriber of this.#subscribers.all()) subscriber.end('ended');
  }

  async *#events(stream: OpenStream): AsyncGenerator<StreamEvent> {
    const subscriber = this.#subscribe(stream);
    let lease: StreamLease | undefined;
    let stop = () => {};
    try {
      // Already subscribed, so that nothing is missed while the lease is acquired.
      lease = await this.#acquireLease(subscriber);
      stop = this.#watch(subscriber, lease);
      yield* subscriber.events();
    } finally {
      stop();
      this.#subscribers.remove(subscriber);
      const onError = (err: unknown) => this.#options.log.warn({ err }, "a stream's lease was not released; it ends by itself");
      await lease?.release().catch(onError);
    }
  }

  #subscribe(stream: OpenStream): JobSubscriber {
    const { db, now, cursors } = this.#options;
    const subscriber = new JobSubscriber(stream, {
      ...this.#limits,
      now,
      cursors,
      render: this.#render,
      held: this.#held,
      sending: this.#sending,
      replaying: this.#replaying,
      // Bound to here: it is called by the delivery of a job, which belongs to no request.
      onSlow: AsyncLocalStorage.bind((slow: JobSubscriber) => this.#logSlow(slow)),
      changedSince: (organizationId, from, admit) => readChangedJobs(db, organizationId, from, { maxBytes: replayPageBytes, admit }),
    });
    this.#subscribers.add(subscriber);
    return subscriber;
  }

  #logSlow({ stream, pendingBytes }: JobSubscriber): void {
    const fields = { organizationId: stream.organizationId, userId: stream.caller.userId, pendingBytes, heldBytes: this.#held.bytes };
    this.#options.log.warn(fields, 'a job stream ends: its reader is too slow');
  }

  async #acquireLease(subscriber: JobSubscriber): Promise<StreamLease> {
    const { leases } = this.#options;
    const { caller, streamId } = subscriber.stream;
    const lease = await leases.acquire({ userId: caller.userId, streamId, onLost: () => subscriber.end('ended') });
    if (lease) return lease;
    throw new ApiError('TOO_MANY_REQUESTS', { message: `A user may hold ${leases.perUser} job streams at once.` });
  }

  /** Ends the stream when the client leaves, its lifetime is over, its lease is lost, or its caller may no longer see it. */
  #watch(subscriber: JobSubscriber, lease: StreamLease): () => void {
    const { signal } = subscriber.stream;
    const { findMembership, log } = this.#options;
    const stopReauthorizing = reauthorize(subscriber, lease, { findMembership, everyMs: this.#limits.recheckMs, log });
    const lifetime = setTimeout(() => subscriber.end('ended'), this.#limits.lifetimeMs);
    const leave = () => subscriber.end('ended');
    signal.addEventListener('abort', leave);
    if (signal.aborted) leave();
    return () => {
      stopReauthorizing();
      clearTimeout(lifetime);
      signal.removeEventListener('abort', leave);
    };
  }
}
