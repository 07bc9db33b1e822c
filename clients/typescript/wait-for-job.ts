import { SheafError } from './errors.ts';
import { sleep } from './retry.ts';
import type { CallOptions, Job } from './types.ts';

const firstDelayMs = 200;
const maxDelayMs = 5_000;

export interface WaitOptions extends CallOptions {
  /** Resolve with a job that has failed, instead of rejecting with its error. */
  returnFailed?: boolean | undefined;
}

/** Polls a job, with growing delays, until it is final. Rejects with the error of a failed one, whose `data` is the job. */
export async function waitForJob(
  get: (input: { id: string }, options: CallOptions) => Promise<Job>,
  id: string,
  { returnFailed = false, ...options }: WaitOptions,
): Promise<Job> {
  for (let delayMs = firstDelayMs; ; delayMs = Math.min(maxDelayMs, delayMs * 1.5)) {
    const job = await get({ id }, options);
    if (job.status === 'failed' && !returnFailed)
      throw new SheafError(job.error?.code ?? 'unknown', job.error?.message ?? 'The job failed.', { data: job });
    if (isFinal(job)) return job;
    await sleep(delayMs, options.signal);
  }
}

/** Whether a job is final: it changes no more. */
export function isFinal({ status }: Pick<Job, 'status'>): boolean {
  return status !== 'queued' && status !== 'running';
}
