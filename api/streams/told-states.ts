import { type ChangedJob, type JobChange, stateOf } from '../../domain/jobs/list-changed-jobs.ts';

/** The states of jobs that were told of lately. What is read overlaps, and an older state must not follow a newer one. */
export class ToldStates {
  readonly #byId = new Map<string, Pick<JobChange, 'at' | 'state'>>();
  readonly #maxJobs: number;

  /** At most so many jobs are known. */
  constructor(maxJobs = Number.POSITIVE_INFINITY) {
    this.#maxJobs = maxJobs;
  }

  /** Whether neither this state of the job nor a newer one was told of. */
  isNew({ id, at, state }: Pick<JobChange, 'id' | 'at' | 'state'>): boolean {
    const told = this.#byId.get(id);
    return !told || told.at < at || (told.at.getTime() === at.getTime() && told.state !== state);
  }

  /** Notes that a state is told of. The oldest is forgotten if there are too many. */
  note({ id, at, state }: Pick<JobChange, 'id' | 'at' | 'state'>): void {
    this.#byId.delete(id);
    this.#byId.set(id, { at, state });
    const [oldest] = this.#byId.keys();
    if (oldest !== undefined && this.#byId.size > this.#maxJobs) this.#byId.delete(oldest);
  }

  /** Forgets what changed before a moment. */
  forgetBefore(at: Date): void {
    for (const [id, told] of this.#byId) if (told.at < at) this.#byId.delete(id);
  }
}

/** A job as a change: the state that was read, which may be newer than the change that led to it. */
export function changeOf(job: ChangedJob): Pick<JobChange, 'id' | 'at' | 'state'> {
  return { id: job.id, at: job.updated_at, state: stateOf(job) };
}
