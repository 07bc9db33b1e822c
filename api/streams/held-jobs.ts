import type { ChangedJob } from '../../domain/jobs/list-changed-jobs.ts';

/** The jobs that wait for the readers of this process's streams. One that waits for several readers is in memory once, and counted once. */
export class HeldJobs {
  readonly #holders = new Map<ChangedJob, number>();
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  hold(job: ChangedJob): void {
    const holders = this.#holders.get(job) ?? 0;
    this.#holders.set(job, holders + 1);
    if (holders === 0) this.#bytes += job.bytes;
  }

  letGo(job: ChangedJob): void {
    const holders = this.#holders.get(job);
    if (holders === undefined) return;
    if (holders > 1) this.#holders.set(job, holders - 1);
    else {
      this.#holders.delete(job);
      this.#bytes -= job.bytes;
    }
  }
}
