import { setTimeout as delay } from 'node:timers/promises';
import { replayStart } from '../../domain/jobs/list-changed-jobs.ts';
import { renderJob } from './job-events.ts';
import type { FeedOptions, JobStream } from './job-stream.ts';
import { changeOf, SentStates } from './sent-states.ts';

const retryMs = 1_000;
/** The pause after each read: changes that come meanwhile are read together. */
const pauseMs = 10;

/** Reads the changes of one organization, once for all of its open streams, while there are any. A notification only wakes it. */
export class OrganizationFeed {
  readonly streams = new Set<JobStream>();
  /** Resolves once earlier changes are known, so that only later ones are sent. Rejects if the database fails. */
  readonly ready: Promise<void>;
  readonly #options: FeedOptions;
  readonly #known = new SentStates();
  /** Every change until this time was read, except those that are committed late. */
  #since: Date;
  #isReading = false;
  #isWoken = false;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#since = options.now();
    this.ready = this.#noteAll();
  }

  /** Call it when something has changed, or may have. */
  wake(): void {
    this.#isWoken = true;
    if (this.#isReading) return;
    this.#isReading = true;
    setImmediate(() => void this.#readWhileWoken());
  }

  async #noteAll(): Promise<void> {
    const { organizationId, readChanges } = this.#options;
    const note = (change: Parameters<SentStates['note']>[0]) => {
      this.#known.note(change);
      return false;
    };
    for await (const _ of readChanges(organizationId, this.#since, note));
  }

  async #readWhileWoken(): Promise<void> {
    while (this.#isWoken && this.streams.size > 0) {
      this.#isWoken = false;
      try {
        await this.#read();
        await delay(pauseMs, undefined, { ref: false });
      } catch (err) {
        this.#options.log.warn({ err }, 'changed jobs could not be read; the streams read them again');
        await delay(retryMs, undefined, { ref: false });
        this.#isWoken = true;
      }
    }
    this.#isReading = false;
  }

  async #read(): Promise<void> {
    const { organizationId, now, cursors, readChanges } = this.#options;
    await this.ready;
    const readAt = now();
    for await (const jobs of readChanges(organizationId, this.#since, (change) => this.#known.isNew(change))) {
      for (const job of jobs) this.#known.note(changeOf(job));
      const events = jobs.map((job) => renderJob(cursors, job));
      for (const stream of this.streams) stream.push(events, this.#since);
    }
    this.#since = readAt;
    this.#known.forgetBefore(replayStart(readAt));
  }
}
