import type { JobError, JobRow } from './job-row.ts';

/** Where a job stands after an attempt: final, waiting for the next one, or in somebody else's hands. */
export type Settlement =
  | { status: 'succeeded' | 'canceled' | 'gone' }
  | { status: 'failed'; error: JobError }
  /** `handedBack`: a worker had no place for the attempt and never began it. */
  | { status: 'queued'; delayMs: number; error?: JobError; handedBack?: boolean }
  | { status: 'running' };

/** A wait for what should be over in a moment. */
const shortWaitMs = 1_000;

/** Where a job stands that the asker does not hold; `gone` where its row is. */
export function standingOf(job: JobRow | undefined): Settlement {
  if (!job) return { status: 'gone' };
  if (job.status === 'failed') return { status: 'failed', error: { code: job.error_code ?? 'unknown', message: job.error_message ?? '' } };
  if (job.status !== 'queued') return { status: job.status };
  const waitMs = job.next_attempt_at ? job.next_attempt_at.getTime() - Date.now() : 0;
  return { status: 'queued', delayMs: Math.max(waitMs, shortWaitMs) };
}
