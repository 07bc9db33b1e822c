import type { Logger } from 'pino';
import type { Db } from '../../db/connect.ts';
import { inShareOf } from '../../db/fair-share.ts';
import { type ChangedJob, readJobsById } from '../../domain/jobs/list-changed-jobs.ts';
import type { HeldJobs } from './held-jobs.ts';
import type { Subscribers } from './subscribers.ts';

const jobsPerRead = 200;
const bytesPerRead = 1024 * 1024;
/** An organization of which more jobs wait to be read has its streams replay instead. */
const mostChanged = 5_000;

export interface DeliveryOptions {
  db: Db;
  log: Logger;
  subscribers: Subscribers;
  held: HeldJobs;
  /** How large the jobs that wait for all readers may be, in bytes. */
  maxHeldBytes: number;
}

/** Reads the jobs that changed, and passes them to the open streams of their organization. */
export interface JobDelivery {
  /** Called with jobs of an organization that changed. Nothing is read if no stream is open. */
  noteChanged(organizationId: string, jobIds: string[]): void;
  /** Has the streams of an organization read what changed since their last event, instead of what was noted. */
  replay(organizationId: string): void;
  replayAll(): void;
}

export function createJobDelivery({ db, log, subscribers, held, maxHeldBytes }: DeliveryOptions): JobDelivery {
  /** The jobs to read, by organization. */
  const changed = new Map<string, Set<string>>();
  let delivering = false;

  /**
   * Reads changed jobs, one read at a time, so that an older state of a job never follows a newer one. The organizations take turns, so
   * that none waits until another's jobs are all read.
   */
  async function deliver(): Promise<void> {
    for (let [next] = changed; next; [next] = changed) {
      const [organizationId, ids] = next;
      changed.delete(organizationId);
      if (!subscribers.has(organizationId)) continue;
      const batch = [...ids].slice(0, jobsPerRead);
      try {
        const { jobs, left } = await inShareOf(organizationId, () => readJobsById(db, organizationId, batch, { maxBytes: bytesPerRead }));
        note(organizationId, [...left, ...[...ids].slice(jobsPerRead)]);
        for (const job of jobs) push(organizationId, job);
      } catch (error) {
        log.warn({ err: error }, 'changed jobs could not be read; the streams replay');
        replayAll();
      }
    }
    delivering = false;
  }

  function push(organizationId: string, job: ChangedJob): void {
    for (const subscriber of subscribers.of(organizationId)) subscriber.push(job);
    while (held.bytes > maxHeldBytes) {
      const [slowest] = subscribers.all().sort((one, other) => other.pendingBytes - one.pendingBytes);
      if (!slowest || slowest.pendingBytes === 0) return;
      slowest.drop();
    }
  }

  function note(organizationId: string, jobIds: string[]): void {
    if (jobIds.length === 0) return;
    const ids = changed.get(organizationId) ?? new Set();
    for (const id of jobIds) ids.add(id);
    if (ids.size <= mostChanged) changed.set(organizationId, ids);
    else replay(organizationId);
  }

  function replay(organizationId: string): void {
    changed.delete(organizationId);
    for (const subscriber of subscribers.of(organizationId)) subscriber.replay();
  }

  function replayAll(): void {
    for (const subscriber of subscribers.all()) subscriber.replay();
  }

  return {
    noteChanged(organizationId, jobIds) {
      if (!subscribers.has(organizationId)) return;
      note(organizationId, jobIds);
      if (delivering) return;
      delivering = true;
      setImmediate(() => void deliver());
    },
    replay,
    replayAll,
  };
}
