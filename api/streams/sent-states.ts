import { type ChangedJob, type JobChange, stateOf } from '../../domain/jobs/list-changed-jobs.ts';

/** The recently sent states of jobs. Reads overlap, and an older state must not follow a newer one. */
export class SentStates {
  readonly #byId = new Map<string, Pick<JobChange, 'at' | 'state'>>();
  readonly #maxJobs: number;

  /** `maxJobs`: the maximum number of jobs to remember. */
  constructor(maxJobs = Number.POSITIVE_INFINITY) {
    this.#maxJobs = maxJobs;
  }

  /** Whether neither this state of the job nor a newer one was sent. */
  isNew({ id, at, state }: Pick<JobChange, 'id' | 'at' | 'state'>): boolean {
    const sent = this.#byId.get(id);
    return !sent || sent.at < at || (sent.at.getTime() === at.getTime() && sent.state !== state);
  }

  /** Records that a state was sent. Forgets the oldest job if there are too many. */
  note({ id, at, state }: Pick<JobChange, 'id' | 'at' | 'state'>): void {
    this.#byId.delete(id);
    this.#byId.set(id, { at, state });
    const [oldest] = this.#byId.keys();
    if (oldest !== undefined && this.#byId.size > this.#maxJobs) this.#byId.delete(oldest);
  }

  /** Forgets states from before a moment. */
  forgetBefore(at: Date): void {
    for (const [id, sent] of this.#byId) if (sent.at < at) this.#byId.delete(id);
  }
}

/** A job as a change: the state that was read, which may be newer than the change that led to it. */
export function changeOf(job: ChangedJob): Pick<JobChange, 'id' | 'at' | 'state'> {
  return { id: job.id, at: job.updated_at, state: stateOf(job) };
}
