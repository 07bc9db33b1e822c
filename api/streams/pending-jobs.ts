import type { ChangedJob } from '../../domain/jobs/list-changed-jobs.ts';
import type { HeldJobs } from './held-jobs.ts';

/** The jobs that wait for one client to read them: of each its latest state, in the order in which they came. */
export class PendingJobs {
  readonly #jobs = new Map<string, ChangedJob>();
  readonly #held: HeldJobs;
  #bytes = 0;

  constructor(held: HeldJobs) {
    this.#held = held;
  }

  get count(): number {
    return this.#jobs.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Replaces an older state of the job. Returns false if a newer one waits already. */
  add(job: ChangedJob): boolean {
    const waiting = this.#jobs.get(job.id);
    if (waiting && waiting.updated_at > job.updated_at) return false;
    if (waiting) this.#remove(waiting);
    this.#jobs.set(job.id, job);
    this.#bytes += job.bytes;
    this.#held.hold(job);
    return true;
  }

  /** Removes and returns the job that has waited longest; undefined if none waits. */
  takeNext(): ChangedJob | undefined {
    const [next] = this.#jobs.values();
    if (next) this.#remove(next);
    return next;
  }

  /** Removes the jobs for which the condition holds. */
  removeWhere(condition: (job: ChangedJob) => boolean): void {
    for (const job of [...this.#jobs.values()]) if (condition(job)) this.#remove(job);
  }

  #remove(job: ChangedJob): void {
    this.#jobs.delete(job.id);
    this.#bytes -= job.bytes;
    this.#held.letGo(job);
  }
}
