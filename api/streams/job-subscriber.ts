import type { Release } from '../../concurrency/semaphore.ts';
import { WaitQueue } from '../../concurrency/wait-queue.ts';
import { ApiError } from '../../contract/api-error.ts';
import { isOfWorkspace } from '../../domain/jobs/job.ts';
import { type ChangedJob, type ChangedPage, type ChangePosition, replayStart } from '../../domain/jobs/list-changed-jobs.ts';
import type { Cursors } from '../../domain/page.ts';
import type { Caller } from '../caller.ts';
import { toJobEvent } from '../presenters/job.ts';
import type { StreamEvent } from '../procedure.ts';
import type { HeldJobs } from './held-jobs.ts';
import type { SendBudget, Sender } from './send-budget.ts';

export interface OpenStream {
  caller: Caller;
  organizationId: string;
  workspaceId: string | undefined;
  lastEventId: string | undefined;
  /** Aborts when the client hangs up. */
  signal: AbortSignal;
  /** Closes a connection whose client no longer reads. */
  hangUp(): void;
  /** Called once nothing waits in the connection any more: its client has read it, or is gone. */
  onDrained(callback: () => void): void;
}

export interface SubscriberOptions {
  /** The database's time: what changed before is not of this stream, unless it resumes. */
  now(): Date;
  cursors: Cursors;
  /** The event of a job. */
  render(job: ChangedJob): StreamEvent;
  /** How many jobs may wait for the client to read them, and how large they may be together, in bytes. */
  maxPending: number;
  maxPendingBytes: number;
  /** The jobs that wait for all clients. */
  held: HeldJobs;
  /** The large events that all clients are to read. */
  sending: SendBudget;
  /** The pages of replays that all clients are to read. */
  replaying: SendBudget;
  /** Called if a client has let too much wait, and its stream ends. */
  onSlow(subscriber: JobSubscriber): void;
  /** How long the client may leave an event unread, in milliseconds. */
  stallMs: number;
  /**
   * How long the client has to read the end of its stream, in milliseconds. The budgets have the same bound for an event that is left
   * unread while others wait.
   */
  patienceMs: number;
  /**
   * A page of the organization's jobs that changed at a moment or later, or after a page; the oldest change first. Calls `admit` with its
   * size in bytes before the contents are read.
   */
  changedSince(organizationId: string, from: Date | ChangePosition, admit: (bytes: number) => Promise<void>): Promise<ChangedPage>;
}

/** How large a page of a replay is at most, in bytes, unless its only job is larger. */
export const replayPageBytes = 256 * 1024;

/** Larger events are rendered one at a time and for each stream, in bytes. */
const smallBytes = 32 * 1024;

/** The scope of an organization's event ids: an id of another scope is refused. */
export function eventScope(organizationId: string): string {
  return `job-events:${organizationId}`;
}

/** Renders the event of a job; that of a small one once for all streams. */
export function createRenderer(cursors: Cursors): (job: ChangedJob) => StreamEvent {
  const rendered = new WeakMap<ChangedJob, StreamEvent>();
  return (job) => {
    const known = rendered.get(job);
    if (known) return known;
    // The id is of the job's place in the order: a later one would let the client resume after changes that it was not told of.
    const id = cursors.encode(eventScope(job.organization_id), { createdAt: job.changedAt, id: job.id });
    const event = { id, data: toJobEvent(job) };
    if (job.bytes <= smallBytes) rendered.set(job, event);
    return event;
  };
}

/** One open stream: the jobs that changed since its client last read, each once, and how the stream ends. */
export class JobSubscriber {
  readonly stream: OpenStream;
  readonly #options: SubscriberOptions;
  readonly #pending = new Map<string, ChangedJob>();
  #pendingBytes = 0;
  /** The states of the jobs that were sent lately, by id: an older one must not follow a newer one. */
  readonly #sent = new Map<string, { changedAt: number; state: string }>();
  #since: Date;
  #lastReadAt = performance.now();
  /** Whether the stream waits for the service: nothing has been left unread meanwhile that a replay has read. */
  #waits = false;
  #replay = false;
  /** How far a replay has read, while there is one: it comes to later changes by itself. */
  #replayedTo: Date | undefined;
  /** The earliest change that was left to the replay. */
  #leftToReplay: Date | undefined;
  #ended: ApiError | 'ended' | undefined;
  readonly #changes = new WaitQueue();
  readonly #wake = () => this.#changes.resolveAll();

  constructor(stream: OpenStream, options: SubscriberOptions) {
    this.stream = stream;
    this.#options = options;
    this.#since = options.now();
  }

  /** The size of the jobs that wait for the client, in bytes. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  get lastReadAt(): number {
    return this.#lastReadAt;
  }

  /** Queues a job that changed. If too much waits, the stream of this slow reader ends; it reconnects and resumes. */
  push(job: ChangedJob): void {
    if (this.#ended !== undefined || !this.#concerns(job)) return;
    if (this.#replayedTo !== undefined && job.updated_at > this.#replayedTo) {
      this.#leave(job);
      return;
    }
    const waiting = this.#pending.get(job.id);
    if (waiting && waiting.updated_at > job.updated_at) return;
    this.#remove(waiting);
    this.#add(job);
    const { maxPending, maxPendingBytes } = this.#options;
    if (this.#pending.size > maxPending || (this.#pending.size > 1 && this.#pendingBytes > maxPendingBytes)) this.drop();
    else this.#wake();
  }

  /** A replay comes to what waits and is later. Told before its turn, it would let the client resume after what is not told yet. */
  #leavePending(from: Date): void {
    for (const job of [...this.#pending.values()]) {
      if (job.updated_at <= from) continue;
      this.#remove(job);
      this.#leave(job);
    }
  }

  #leave({ updated_at }: ChangedJob): void {
    if (this.#leftToReplay === undefined || updated_at < this.#leftToReplay) this.#leftToReplay = updated_at;
  }

  #add(job: ChangedJob): void {
    this.#pending.set(job.id, job);
    this.#pendingBytes += job.bytes;
    this.#options.held.hold(job);
  }

  #remove(job: ChangedJob | undefined): void {
    if (!job || !this.#pending.delete(job.id)) return;
    this.#pendingBytes -= job.bytes;
    this.#options.held.letGo(job);
  }

  /** Ends the stream of a client that does not read what it is sent. */
  drop(): void {
    if (this.#ended !== undefined) return;
    this.#options.onSlow(this);
    this.end('ended');
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
    for (const job of [...this.#pending.values()]) this.#remove(job);
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
      yield* this.#sendPending();
      if (!this.#replay && this.#pending.size === 0 && this.#ended === undefined) await this.#changes.wait();
    }
    if (this.#ended !== 'ended') throw this.#ended;
  }

  /** Reads page after page, as fast as the client reads, until there is nothing newer. */
  async *#replayed(): AsyncGenerator<StreamEvent> {
    this.#replay = false;
    let from: Date | ChangePosition = replayStart(this.#since);
    this.#replayedTo = from;
    this.#leavePending(from);
    try {
      for (;;) {
        const { page, release }: { page: ChangedPage; release: Release } = await this.#readPage(from);
        const { jobs, end, more } = page;
        if (end && end.at > this.#replayedTo) this.#replayedTo = end.at;
        yield* this.#sendPage(jobs, release);
        // What was committed late, and is behind the replay, would otherwise wait for the end of the replay.
        yield* this.#sendPending();
        if (this.#ended !== undefined) return;
        if (more && end) from = end;
        else if (this.#leftToReplay !== undefined) from = this.#leftToReplay;
        else return;
        if (from === this.#leftToReplay) this.#leftToReplay = undefined;
      }
    } finally {
      this.#replayedTo = undefined;
    }
  }

  /** Reads a page of a replay once there is room for it. */
  async #readPage(from: Date | ChangePosition): Promise<{ page: ChangedPage; release: Release }> {
    const { replaying, changedSince } = this.#options;
    const reader = this.#replayReader();
    let release = await replaying.acquire(reader, replayPageBytes);
    const admit = async (bytes: number) => {
      if (bytes <= replayPageBytes) return;
      // Nobody waits for more room while it holds some: two of them would wait for each other.
      release();
      release = await replaying.acquire(reader, bytes);
    };
    try {
      const page = await this.#waitFor(changedSince(this.stream.organizationId, from, admit));
      return { page, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** As whom the stream holds the page of its replay: while it waits for the service, the client has nothing to read of the page. */
  #replayReader(): Sender {
    const lastReadAt = () => (this.#waits ? performance.now() : this.#lastReadAt);
    return {
      get lastReadAt() {
        return lastReadAt();
      },
      drop: () => this.drop(),
    };
  }

  /** Waits for what is not up to the client. */
  async #waitFor<T>(work: Promise<T>): Promise<T> {
    this.#waits = true;
    try {
      return await work;
    } finally {
      this.#waits = false;
      this.#lastReadAt = performance.now();
    }
  }

  async *#sendPage(jobs: ChangedJob[], release: Release): AsyncGenerator<StreamEvent> {
    try {
      for (const job of jobs) {
        if (this.#ended !== undefined) return;
        if (this.#concerns(job)) yield* this.#send(job);
      }
    } finally {
      release();
    }
  }

  async *#sendPending(): AsyncGenerator<StreamEvent> {
    for (let [next] = this.#pending.values(); next && !this.#replay; [next] = this.#pending.values()) {
      this.#remove(next);
      yield* this.#send(next);
    }
  }

  /** Whether the stream shows a job. A stream of a workspace follows its jobs to their end, also if the workspace is deleted. */
  #concerns(job: ChangedJob): boolean {
    const { workspaceId } = this.stream;
    return workspaceId === undefined || isOfWorkspace(job, workspaceId);
  }

  async *#send(job: ChangedJob): AsyncGenerator<StreamEvent> {
    if (!this.#isNew(job)) return;
    if (job.bytes <= smallBytes) return yield* this.#offer(job);
    const release = await this.#waitFor(this.#options.sending.acquire(this, job.bytes));
    try {
      if (this.#ended === undefined) yield* this.#offer(job);
    } finally {
      this.stream.onDrained(release);
    }
  }

  *#offer(job: ChangedJob): Generator<StreamEvent> {
    this.#lastReadAt = performance.now();
    const stalled = setTimeout(() => this.drop(), this.#options.stallMs).unref();
    try {
      yield this.#toEvent(job);
    } finally {
      clearTimeout(stalled);
      this.#lastReadAt = performance.now();
    }
  }

  /** Whether no newer state of the job was sent, nor this one; notes it. */
  #isNew({ id, updated_at, status, attempts, workspace_id }: ChangedJob): boolean {
    const [changedAt, state] = [updated_at.getTime(), `${status} ${attempts} ${workspace_id}`];
    const sent = this.#sent.get(id);
    if (sent && (sent.changedAt > changedAt || (sent.changedAt === changedAt && sent.state === state))) return false;
    this.#sent.delete(id);
    this.#sent.set(id, { changedAt, state });
    const [oldest] = this.#sent.keys();
    if (oldest !== undefined && this.#sent.size > this.#options.maxPending) this.#sent.delete(oldest);
    return true;
  }

  #toEvent(job: ChangedJob): StreamEvent {
    if (job.changedAt > this.#since) this.#since = job.changedAt;
    return this.#options.render(job);
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
