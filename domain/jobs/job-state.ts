import type { JobError, JobRow } from './job-row.ts';

/** What state a job is in: final, waiting for its next attempt for `delayMs`, or in somebody else's hands. */
export type JobState =
  | { status: 'succeeded' | 'canceled' | 'gone' }
  | { status: 'failed'; error: JobError }
  | QueuedJobState
  | { status: 'running' };

export interface QueuedJobState {
  status: 'queued';
  delayMs: number;
  error?: JobError;
}

/** A wait for what should be over in a moment. */
const shortWaitMs = 1_000;

/** The state of a job that the asker does not hold; `gone` if its row is. */
export function jobStateOf(job: JobRow | undefined): JobState {
  if (!job) return { status: 'gone' };
  if (job.status === 'failed') return { status: 'failed', error: { code: job.error_code ?? 'unknown', message: job.error_message ?? '' } };
  if (job.status !== 'queued') return { status: job.status };
  const waitMs = job.next_attempt_at ? job.next_attempt_at.getTime() - Date.now() : 0;
  return { status: 'queued', delayMs: Math.max(waitMs, shortWaitMs) };
}
