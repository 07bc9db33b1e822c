import { WaitQueue } from '../../concurrency/wait-queue.ts';
import { ApiError } from '../../contract/api-error.ts';
import { isOfWorkspace, type JobRow } from '../../domain/jobs/job.ts';
import type { Cursors } from '../../domain/page.ts';
import type { Caller } from '../caller.ts';
import { toJobEvent } from '../presenters/job.ts';
import type { StreamEvent } from '../procedure.ts';

export interface OpenStream {
  caller: Caller;
  organizationId: string;
  workspaceId: string | undefined;
  lastEventId: string | undefined;
  /** Aborts when the client hangs up. */
  signal: AbortSignal;
  /** Closes a connection whose client no longer reads. */
  hangUp(): void;
}

export interface SubscriberOptions {
  /** The database's time: what changed before is not of this stream, unless it resumes. */
  now(): Date;
  cursors: Cursors;
  /** How many jobs may wait for the client to read them. */
  maxPending: number;
  /** How long the client has to read what is left once the stream has ended, in milliseconds. */
  patienceMs: number;
  /** The organization's jobs that changed since a moment, oldest change first, with changes that were committed late. */
  changedSince(organizationId: string, since: Date): AsyncIterable<JobRow>;
}

/** The scope of an organization's event ids: an id of another scope is refused. */
export function eventScope(organizationId: string): string {
  return `job-events:${organizationId}`;
}

/** One open stream: the jobs that changed since its client last read, each once, and how the stream ends. */
export class JobSubscriber {
  readonly stream: OpenStream;
  readonly #options: SubscriberOptions;
  readonly #pending = new Map<string, JobRow>();
  /** When the jobs that were sent lately had changed, by id: an older state must not follow a newer one. */
  readonly #sent = new Map<string, number>();
  #since: Date;
  #replay = false;
  #ended: ApiError | 'ended' | undefined;
  readonly #changes = new WaitQueue();
  readonly #wake = () => this.#changes.resolveAll();

  constructor(stream: OpenStream, options: SubscriberOptions) {
    this.stream = stream;
    this.#options = options;
    this.#since = options.now();
  }

  /** Queues a job that changed. If too many jobs wait, the stream of this slow reader ends; it reconnects and resumes. */
  push(job: JobRow): void {
    if (this.#ended !== undefined || !this.#concerns(job)) return;
    const waiting = this.#pending.get(job.id);
    if (waiting && waiting.updated_at > job.updated_at) return;
    this.#pending.delete(job.id);
    this.#pending.set(job.id, job);
    if (this.#pending.size > this.#options.maxPending) this.end('ended');
    else this.#wake();
  }

  /** Makes the stream read what changed since its last event, because notifications may have been lost. */
  replay(): void {
    this.#replay = true;
    this.#wake();
  }

  /** Ends the stream, with an error or without. The connection of a client that does not read the end is closed. */
  end(reason: ApiError | 'ended'): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#pending.clear();
    this.#wake();
    const patience = setTimeout(() => this.stream.hangUp(), this.#options.patienceMs).unref();
    this.stream.signal.addEventListener('abort', () => clearTimeout(patience), { once: true });
  }

  /** The events until the end. Throws the error that the stream ends with. */
  async *events(): AsyncGenerator<StreamEvent> {
    if (this.stream.lastEventId !== undefined) {
      this.#since = this.#decode(this.stream.lastEventId);
      this.#replay = true;
    }
    while (this.#ended === undefined) {
      if (this.#replay) yield* this.#replayed();
      const [next] = this.#pending.values();
      if (next) {
        this.#pending.delete(next.id);
        yield* this.#send(next);
      } else if (!this.#replay && this.#ended === undefined) {
        await this.#changes.wait();
      }
    }
    if (this.#ended !== 'ended') throw this.#ended;
  }

  async *#replayed(): AsyncGenerator<StreamEvent> {
    this.#replay = false;
    for await (const job of this.#options.changedSince(this.stream.organizationId, this.#since)) {
      if (this.#ended !== undefined) return;
      if (this.#concerns(job)) yield* this.#send(job);
    }
  }

  /** Whether the stream shows a job. A stream of a workspace follows its jobs to their end, also if the workspace is deleted. */
  #concerns(job: JobRow): boolean {
    const { workspaceId } = this.stream;
    return workspaceId === undefined || isOfWorkspace(job, workspaceId);
  }

  *#send(job: JobRow): Generator<StreamEvent> {
    const changedAt = job.updated_at.getTime();
    if ((this.#sent.get(job.id) ?? 0) > changedAt) return;
    this.#sent.delete(job.id);
    this.#sent.set(job.id, changedAt);
    const [oldest] = this.#sent.keys();
    if (oldest !== undefined && this.#sent.size > this.#options.maxPending) this.#sent.delete(oldest);
    if (job.updated_at > this.#since) this.#since = job.updated_at;
    yield { id: this.#options.cursors.encode(this.#scope, { createdAt: job.updated_at, id: job.id }), data: toJobEvent(job) };
  }

  get #scope(): string {
    return eventScope(this.stream.organizationId);
  }

  #decode(eventId: string): Date {
    try {
      return this.#options.cursors.decode(this.#scope, eventId).createdAt;
    } catch {
      const message = 'The Last-Event-Id was not issued by this stream.';
      throw new ApiError('BAD_REQUEST', { message, data: { issues: [{ path: ['Last-Event-Id'], message }] } });
    }
  }
}
