import { WaitQueue } from '../../concurrency/wait-queue.ts';
import type { ApiError } from '../../contract/api-error.ts';
import { isOfWorkspace } from '../../domain/jobs/job.ts';
import type { ChangedJob } from '../../domain/jobs/list-changed-jobs.ts';
import type { Cursors } from '../../domain/page.ts';
import type { Caller } from '../caller.ts';
import type { StreamEvent } from '../procedure.ts';
import type { HeldJobs } from './held-jobs.ts';
import { decodeEventId, isLarge } from './job-events.ts';
import { PendingJobs } from './pending-jobs.ts';
import { type ReadChanges, Replay } from './replay.ts';
import type { SendBudget, Sender } from './send-budget.ts';
import { SentStates } from './sent-states.ts';

export interface OpenStream {
  caller: Caller;
  organizationId: string;
  workspaceId: string | undefined;
  lastEventId: string | undefined;
  /** The client's own id of the stream, the same for each of its connections. */
  streamId: string | undefined;
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
  /** Reads what changed in the organization, for a replay. */
  changedSince(organizationId: string, ...range: Parameters<ReadChanges>): ReturnType<ReadChanges>;
}

/**
 * One open stream: the jobs that changed since its client last read, each once, and how the stream ends. Changes come in by {@link push}
 * when the database notifies of them; when notifications may have been lost, a replay reads them from the table. {@link events} merges
 * both, as fast as the client reads.
 */
export class JobSubscriber {
  readonly stream: OpenStream;
  readonly #options: SubscriberOptions;
  readonly #pending: PendingJobs;
  readonly #sent: SentStates;
  /** Until when the client knows of every change: a replay begins there. */
  #knownTo: Date;
  #lastReadAt = performance.now();
  /** Whether the stream waits for the service: nothing has been left unread meanwhile that a replay has read. */
  #waits = false;
  #replayRequested = false;
  /** The replay that is under way. */
  #replay: Replay | undefined;
  #ended: ApiError | 'ended' | undefined;
  readonly #changes = new WaitQueue();

  constructor(stream: OpenStream, options: SubscriberOptions) {
    this.stream = stream;
    this.#options = options;
    this.#pending = new PendingJobs(options.held);
    this.#sent = new SentStates(options.maxPending);
    this.#knownTo = options.now();
  }

  /** The size of the jobs that wait for the client, in bytes. */
  get pendingBytes(): number {
    return this.#pending.bytes;
  }

  get lastReadAt(): number {
    return this.#lastReadAt;
  }

  /** Queues a job that changed. If too much waits, the stream of this slow reader ends; it reconnects and resumes. */
  push(job: ChangedJob): void {
    if (this.#ended !== undefined || !this.#concerns(job)) return;
    if (this.#replay?.takesOver(job) || !this.#pending.add(job)) return;
    const { count, bytes } = this.#pending;
    const { maxPending, maxPendingBytes } = this.#options;
    if (count > maxPending || (count > 1 && bytes > maxPendingBytes)) this.drop();
    else this.#changes.resolveAll();
  }

  /** Makes the stream read what changed since its last event, because notifications may have been lost. */
  replay(): void {
    this.#replayRequested = true;
    this.#changes.resolveAll();
  }

  /** Ends the stream of a client that does not read what it is sent. */
  drop(): void {
    if (this.#ended !== undefined) return;
    this.#options.onSlow(this);
    this.end('ended');
  }

  /** Ends the stream, with an error or without. The connection of a client that does not read the end is closed. */
  end(reason: ApiError | 'ended'): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#pending.removeWhere(() => true);
    this.#changes.resolveAll();
    const patience = setTimeout(() => this.stream.hangUp(), this.#options.patienceMs).unref();
    this.stream.signal.addEventListener('abort', () => clearTimeout(patience), { once: true });
  }

  /** The events until the end. Throws the error that the stream ends with. */
  async *events(): AsyncGenerator<StreamEvent> {
    const { lastEventId, organizationId } = this.stream;
    if (lastEventId !== undefined) {
      this.#knownTo = decodeEventId(this.#options.cursors, organizationId, lastEventId);
      this.#replayRequested = true;
    }
    while (this.#ended === undefined) {
      if (this.#replayRequested) yield* this.#sendReplay();
      yield* this.#sendPending();
      if (!this.#replayRequested && this.#pending.count === 0 && this.#ended === undefined) await this.#changes.wait();
    }
    if (this.#ended !== 'ended') throw this.#ended;
  }

  async *#sendReplay(): AsyncGenerator<StreamEvent> {
    const { changedSince, replaying } = this.#options;
    this.#replayRequested = false;
    const replay = new Replay(this.#knownTo, {
      read: (from, admit) => this.#waitFor(changedSince(this.stream.organizationId, from, admit)),
      budget: replaying,
      sender: this.#replaySender(),
    });
    this.#replay = replay;
    this.#pending.removeWhere((job) => replay.takesOver(job));
    try {
      for await (const { jobs, release } of replay.pages()) {
        try {
          yield* this.#sendPage(jobs);
        } finally {
          release();
        }
        // What was committed late, and is behind the replay, would otherwise wait for the end of the replay.
        yield* this.#sendPending();
        if (this.#ended !== undefined) return;
      }
    } finally {
      this.#replay = undefined;
    }
  }

  /** As whom a replay holds its page: while the stream waits for the service, the client has nothing to read of the page. */
  #replaySender(): Sender {
    const lastReadAt = () => (this.#waits ? performance.now() : this.#lastReadAt);
    return {
      get lastReadAt() {
        return lastReadAt();
      },
      drop: () => this.drop(),
    };
  }

  async *#sendPage(jobs: ChangedJob[]): AsyncGenerator<StreamEvent> {
    for (const job of jobs) {
      if (this.#ended !== undefined) return;
      if (this.#concerns(job)) yield* this.#send(job);
    }
  }

  async *#sendPending(): AsyncGenerator<StreamEvent> {
    while (!this.#replayRequested) {
      const next = this.#pending.takeNext();
      if (!next) return;
      yield* this.#send(next);
    }
  }

  /** Whether the stream shows a job. A stream of a workspace follows its jobs to their end, also if the workspace is deleted. */
  #concerns(job: ChangedJob): boolean {
    const { workspaceId } = this.stream;
    return workspaceId === undefined || isOfWorkspace(job, workspaceId);
  }

  async *#send(job: ChangedJob): AsyncGenerator<StreamEvent> {
    if (!this.#sent.note(job)) return;
    if (!isLarge(job)) return yield* this.#offer(job);
    const release = await this.#waitFor(this.#options.sending.acquire(this, job.bytes));
    try {
      if (this.#ended === undefined) yield* this.#offer(job);
    } finally {
      this.stream.onDrained(release);
    }
  }

  /** Hands over an event, and ends the stream if the client leaves it unread for too long. */
  *#offer(job: ChangedJob): Generator<StreamEvent> {
    this.#lastReadAt = performance.now();
    const stalled = setTimeout(() => this.drop(), this.#options.stallMs).unref();
    try {
      if (job.changedAt > this.#knownTo) this.#knownTo = job.changedAt;
      yield this.#options.render(job);
    } finally {
      clearTimeout(stalled);
      this.#lastReadAt = performance.now();
    }
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
}
