import type { ChangedJob } from '../../domain/jobs/list-changed-jobs.ts';

/** The states of jobs that one client was sent lately. Notifications and replays overlap: an older state must not follow a newer one. */
export class SentStates {
  readonly #byId = new Map<string, { changedAt: number; state: string }>();
  readonly #mostJobs: number;

  constructor(mostJobs: number) {
    this.#mostJobs = mostJobs;
  }

  /** Notes that a state is sent. Returns false if this one, or a newer one of the job, was sent before. */
  note({ id, updated_at, status, attempts, workspace_id }: ChangedJob): boolean {
    const [changedAt, state] = [updated_at.getTime(), `${status} ${attempts} ${workspace_id}`];
    const sent = this.#byId.get(id);
    if (sent && (sent.changedAt > changedAt || (sent.changedAt === changedAt && sent.state === state))) return false;
    this.#byId.delete(id);
    this.#byId.set(id, { changedAt, state });
    const [oldest] = this.#byId.keys();
    if (oldest !== undefined && this.#byId.size > this.#mostJobs) this.#byId.delete(oldest);
    return true;
  }
}
