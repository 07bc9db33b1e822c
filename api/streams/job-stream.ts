import type { ApiError } from '../../contract/api-error.ts';
import { isOfWorkspace } from '../../domain/jobs/job.ts';
import type { ChangedJob } from '../../domain/jobs/list-changed-jobs.ts';
import type { Caller } from '../caller.ts';
import type { StreamEvent } from '../procedure.ts';
import { type JobEvent, renderJob } from './job-events.ts';
import type { Batch, FeedOptions, OrganizationFeed } from './organization-feed.ts';
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

export interface JobStreamOptions extends FeedOptions {
  /** How long the client may leave an event unread, in milliseconds. */
  stallMs: number;
}

const maxSent = 10_000;

/**
 * One open stream: every change of a job since its beginning, each once. It follows its organization's feed. If it begins in the past, or
 * if its client reads so slowly that the feed has dropped the next batch, it reads by itself until it is up to date.
 */
export class JobStream {
  readonly request: OpenStream;
  readonly #feed: OrganizationFeed;
  readonly #options: JobStreamOptions;
  readonly #sent = new SentStates(maxSent);
  readonly #over = new AbortController();
  /** The client has every change until this time, except those that are committed late; and every batch up to this number. */
  #since: Date;
  #number: number;
  #isBehind: boolean;
  #error: ApiError | undefined;

  /** `since`: the client has the changes until then; undefined if the stream begins now. */
  constructor(request: OpenStream, feed: OrganizationFeed, since: Date | undefined, options: JobStreamOptions) {
    this.request = request;
    this.#feed = feed;
    this.#options = options;
    this.#since = since ?? options.now();
    this.#number = feed.newest;
    this.#isBehind = since !== undefined;
  }

  /** Ends the stream, with an error or without. */
  end(error?: ApiError): void {
    this.#error ??= error;
    this.#over.abort();
  }

  /** Yields events until the stream ends. Throws the error that the stream ends with. */
  async *events(): AsyncGenerator<StreamEvent> {
    while (!this.#over.signal.aborted) {
      if (this.#isBehind) yield* this.#catchUp();
      else yield* this.#follow();
    }
    if (this.#error) throw this.#error;
  }

  async *#catchUp(): AsyncGenerator<StreamEvent> {
    const { organizationId, cursors, now, readChanges } = this.#options;
    const [startedAt, number] = [now(), this.#feed.newest];
    for await (const jobs of readChanges(organizationId, this.#since, (change) => this.#sent.isNew(change)))
      for (const job of jobs) yield* this.#offer(job, () => renderJob(cursors, job));
    this.#isBehind = false;
    this.#since = startedAt;
    this.#number = number;
  }

  async *#follow(): AsyncGenerator<StreamEvent> {
    const next: Batch | 'gone' | undefined = this.#feed.after(this.#number);
    if (next === undefined) return await this.#feed.wait(this.#over.signal).catch(() => {});
    if (next === 'gone') {
      this.#isBehind = true;
      return;
    }
    for (const event of next.events) yield* this.#offer(event.job, () => event);
    this.#number = next.number;
    this.#since = next.readAt;
  }

  /**
   * Yields an event, unless it was sent before or belongs to another workspace. Closes the connection if the client leaves it unread for
   * too long.
   */
  *#offer(job: ChangedJob, render: () => JobEvent): Generator<StreamEvent> {
    const { workspaceId } = this.request;
    if (this.#over.signal.aborted || !this.#sent.isNew(changeOf(job))) return;
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
    this.#options.log.warn({ organizationId, userId: caller.userId }, 'a job stream ends: its reader is too slow');
    this.end();
    hangUp();
  }
}
