import type { Logger } from 'pino';
import { WaitQueue } from '../../base/concurrency/wait-queue.ts';
import type { ApiError } from '../../contract/api-error.ts';
import { isOfWorkspace } from '../../domain/jobs/job.ts';
import type { ChangedJob, ReadChanges } from '../../domain/jobs/list-changed-jobs.ts';
import type { Cursors } from '../../domain/page.ts';
import { type Caller, callerId } from '../caller.ts';
import type { StreamEvent } from '../procedure.ts';
import { type JobEvent, renderJob } from './job-events.ts';
import { changeOf, SentStates } from './sent-states.ts';

export interface OpenStream {
  caller: Caller;
  organizationId: string;
  workspaceId: string | undefined;
  lastEventId: string | undefined;
  /** The client's own id of the stream, the same for each of its connections. */
  streamId: string | undefined;
  /** Closes a connection whose client no longer reads. */
  hangUp(): void;
  /** Called when the response is over, or the client has left. */
  onClose(callback: () => void): void;
}

export interface FeedOptions {
  organizationId: string;
  /** The database's time. */
  now(): Date;
  cursors: Cursors;
  log: Logger;
  readChanges: ReadChanges;
}

interface JobStreamOptions extends FeedOptions {
  /** How long the client may leave an event unread, in milliseconds. */
  stallMs: number;
}

const maxSent = 10_000;
/** A client that is further behind reads by itself. */
const maxQueuedBytes = 512 * 1024;

/**
 * One open stream: every change of a job since its beginning, each once. Its organization's feed fills its queue. If it begins in the past,
 * or its client reads so slowly that the queue is full, it reads by itself until it is up to date.
 */
export class JobStream {
  readonly request: OpenStream;
  readonly #options: JobStreamOptions;
  readonly #sent = new SentStates(maxSent);
  readonly #over = new AbortController();
  readonly #waiting = new WaitQueue();
  /** The events to send; undefined while the stream must read by itself. */
  #queue: JobEvent[] | undefined;
  #queuedBytes = 0;
  /** The client has every change until this time, except those that are committed late. */
  #since: Date;
  /** What `#since` becomes once the client also has the events in the queue. */
  #queuedUntil: Date;
  #error: ApiError | undefined;

  /** `since`: the client has the changes until then; undefined if the stream begins now. */
  constructor(request: OpenStream, since: Date | undefined, options: JobStreamOptions) {
    this.request = request;
    this.#options = options;
    this.#since = since ?? options.now();
    this.#queuedUntil = this.#since;
    if (!since) this.#queue = [];
  }

  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  /** Ends the stream, with an error or without. */
  end(error?: ApiError): void {
    this.#error ??= error;
    this.#over.abort();
  }

  /** Queues the next events. Together with earlier ones they are all changes before `until`, except those that are committed late. */
  push(events: JobEvent[], until: Date): void {
    if (this.#queuedBytes > maxQueuedBytes) this.#queue = undefined;
    this.#queue?.push(...events);
    this.#queuedBytes += events.reduce((sum, { job }) => sum + job.bytes, 0);
    if (until > this.#queuedUntil) this.#queuedUntil = until;
    this.#waiting.resolveAll();
  }

  /** Yields events until the stream ends. Throws the error that the stream ends with. */
  async *events(): AsyncGenerator<StreamEvent> {
    while (!this.isOver) {
      const next = this.#queue?.shift();
      if (next) {
        this.#queuedBytes -= next.job.bytes;
        yield* this.#send(next.job, () => next);
      } else if (this.#queue) {
        this.#since = this.#queuedUntil;
        await this.#waiting.wait(this.#over.signal).catch(() => {});
      } else yield* this.#catchUp();
    }
    if (this.#error) throw this.#error;
  }

  async *#catchUp(): AsyncGenerator<StreamEvent> {
    const { organizationId, cursors, now, readChanges } = this.#options;
    [this.#queue, this.#queuedBytes, this.#queuedUntil] = [[], 0, now()];
    for await (const jobs of readChanges(organizationId, this.#since, (change) => this.#sent.isNew(change)))
      for (const job of jobs) yield* this.#send(job, () => renderJob(cursors, job));
  }

  /**
   * Yields an event, unless it was sent before or belongs to another workspace. Closes the connection if the client leaves it unread for
   * too long.
   */
  *#send(job: ChangedJob, render: () => JobEvent): Generator<StreamEvent> {
    const { workspaceId } = this.request;
    if (this.isOver || !this.#sent.isNew(changeOf(job))) return;
    if (workspaceId !== undefined && !isOfWorkspace(job, workspaceId)) return;
    this.#sent.note(changeOf(job));
    const stalled = setTimeout(() => this.#drop(), this.#options.stallMs).unref();
    try {
      yield render().event;
    } finally {
      clearTimeout(stalled);
    }
  }

  #drop(): void {
    const { organizationId, caller, hangUp } = this.request;
    this.#options.log.warn({ organizationId, callerId: callerId(caller) }, 'a job stream ends: its reader is too slow');
    this.end();
    hangUp();
  }
}
