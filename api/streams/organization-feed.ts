import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { WaitQueue } from '../../concurrency/wait-queue.ts';
import { replayStart } from '../../domain/jobs/list-changed-jobs.ts';
import type { Cursors } from '../../domain/page.ts';
import type { ReadChanges } from './change-reader.ts';
import { type JobEvent, renderJob } from './job-events.ts';
import { changeOf, SentStates } from './sent-states.ts';

export interface FeedOptions {
  organizationId: string;
  /** The database's time. */
  now(): Date;
  cursors: Cursors;
  log: Logger;
  readChanges: ReadChanges;
}

/** The result of one read. All changes that happened before `readAt` and were committed by then are in it or in an earlier batch. */
export interface Batch {
  number: number;
  readAt: Date;
  events: JobEvent[];
  bytes: number;
}

/** The maximum size and age of the batches that are kept for streams a little behind. A stream that is further behind reads by itself. */
const maxKeptBytes = 4 * 1024 * 1024;
const keptMs = 5_000;
const retryMs = 1_000;
/** The pause after each read: changes that come meanwhile are read together. */
const pauseMs = 50;

/** Reads the changes of one organization, once for all of its open streams. A notification only wakes it. */
export class OrganizationFeed {
  /** Resolves once earlier changes are known, so that only later ones are sent. Rejects if the database fails. */
  readonly ready: Promise<void>;
  readonly #options: FeedOptions;
  readonly #known = new SentStates();
  readonly #waiting = new WaitQueue();
  #kept: Batch[] = [];
  #number = 0;
  /** Every change until this time was read, except those that are committed late. */
  #since: Date;
  #isReading = false;
  #isWoken = false;
  #isClosed = false;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#since = options.now();
    this.ready = this.#noteAll();
  }

  /** The number of the newest batch. */
  get newest(): number {
    return this.#number;
  }

  /** The batch after the one with this number; undefined if there is none yet, `gone` if it was dropped. */
  after(number: number): Batch | 'gone' | undefined {
    if (number >= this.#number) return undefined;
    return this.#kept.find((batch) => batch.number === number + 1) ?? 'gone';
  }

  /** Waits for the next batch. Rejects with the signal's reason. */
  async wait(signal: AbortSignal): Promise<void> {
    await this.#waiting.wait(signal);
  }

  /** Call it when something has changed, or may have. */
  wake(): void {
    this.#isWoken = true;
    if (this.#isReading) return;
    this.#isReading = true;
    setImmediate(() => void this.#readWhileWoken());
  }

  /** Stops reading. */
  close(): void {
    this.#isClosed = true;
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
    while (this.#isWoken && !this.#isClosed) {
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
      this.#keep({ number: ++this.#number, readAt: this.#since, events, bytes: jobs.reduce((sum, { bytes }) => sum + bytes, 0) });
    }
    this.#since = readAt;
    this.#known.forgetBefore(replayStart(readAt));
  }

  /** Keeps the newest batches up to the maximum size, and the last one whatever its size; none for long, since feeds may be many. */
  #keep(batch: Batch): void {
    this.#kept.push(batch);
    setTimeout(() => {
      this.#kept = this.#kept.filter(({ number }) => number > batch.number);
    }, keptMs).unref();
    let bytes = this.#kept.reduce((sum, kept) => sum + kept.bytes, 0);
    while (bytes > maxKeptBytes && this.#kept.length > 1) bytes -= this.#kept.shift()?.bytes ?? 0;
    this.#waiting.resolveAll();
  }
}
