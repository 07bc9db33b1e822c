import type { Logger } from 'pino';
import type { Db } from '../../db/connect.ts';
import { type ChangedJob, readJobsById } from '../../domain/jobs/list-changed-jobs.ts';
import type { HeldJobs } from './held-jobs.ts';
import type { Subscribers } from './subscribers.ts';

const jobsPerRead = 200;
const bytesPerRead = 1024 * 1024;
/** An organization of which more jobs wait to be read has its streams replay instead. */
const mostChanged = 5_000;

interface DeliveryOptions {
  db: Db;
  log: Logger;
  subscribers: Subscribers;
  held: HeldJobs;
  /** How large the jobs that wait for all readers may be, in bytes. */
  maxHeldBytes: number;
}

/** Reads the jobs that changed, and passes them to the open streams of their organization. */
export class JobDelivery {
  readonly #options: DeliveryOptions;
  /** The jobs to read, by organization. */
  readonly #changed = new Map<string, Set<string>>();
  #delivering = false;

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  /** Call it with jobs of an organization that changed. Nothing is read if no stream is open. */
  noteChanged(organizationId: string, jobIds: string[]): void {
    if (!this.#options.subscribers.has(organizationId)) return;
    this.#note(organizationId, jobIds);
    if (this.#delivering) return;
    this.#delivering = true;
    setImmediate(() => void this.#deliver());
  }

  /** Has the streams of an organization read what changed since their last event, instead of what was noted. */
  replay(organizationId: string): void {
    this.#changed.delete(organizationId);
    for (const subscriber of this.#options.subscribers.of(organizationId)) subscriber.replay();
  }

  /** Has every stream read what changed since its last event. */
  replayAll(): void {
    for (const subscriber of this.#options.subscribers.all()) subscriber.replay();
  }

  /**
   * Reads changed jobs, one read at a time, so that an older state of a job never follows a newer one. The organizations take turns, so
   * that none waits until another's jobs are all read.
   */
  async #deliver(): Promise<void> {
    const { db, log, subscribers } = this.#options;
    for (let [next] = this.#changed; next; [next] = this.#changed) {
      const [organizationId, ids] = next;
      this.#changed.delete(organizationId);
      if (!subscribers.has(organizationId)) continue;
      const batch = [...ids].slice(0, jobsPerRead);
      try {
        const { jobs, left } = await readJobsById(db, organizationId, batch, { maxBytes: bytesPerRead });
        this.#note(organizationId, [...left, ...[...ids].slice(jobsPerRead)]);
        for (const job of jobs) this.#push(organizationId, job);
      } catch (error) {
        log.warn({ err: error }, 'changed jobs could not be read; the streams replay');
        this.replayAll();
      }
    }
    this.#delivering = false;
  }

  #push(organizationId: string, job: ChangedJob): void {
    const { subscribers, held, maxHeldBytes } = this.#options;
    for (const subscriber of subscribers.of(organizationId)) subscriber.push(job);
    while (held.bytes > maxHeldBytes) {
      const [slowest] = subscribers.all().sort((one, other) => other.pendingBytes - one.pendingBytes);
      if (!slowest || slowest.pendingBytes === 0) return;
      slowest.drop();
    }
  }

  #note(organizationId: string, jobIds: string[]): void {
    if (jobIds.length === 0) return;
    const ids = this.#changed.get(organizationId) ?? new Set();
    for (const id of jobIds) ids.add(id);
    if (ids.size <= mostChanged) this.#changed.set(organizationId, ids);
    else this.replay(organizationId);
  }
}
