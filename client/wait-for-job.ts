import { sleep } from './retry.ts';
import type { CallOptions, Job } from './types.ts';

const firstDelayMs = 200;
const maxDelayMs = 5_000;

/** Polls a job, with growing delays, until it is final. */
export async function waitForJob(
  get: (input: { id: string }, options: CallOptions) => Promise<Job>,
  id: string,
  options: CallOptions,
): Promise<Job> {
  for (let delayMs = firstDelayMs; ; delayMs = Math.min(maxDelayMs, delayMs * 1.5)) {
    const job = await get({ id }, options);
    if (isFinal(job)) return job;
    await sleep(delayMs, options.signal);
  }
}

/** Whether a job is final: it changes no more. */
export function isFinal({ status }: Pick<Job, 'status'>): boolean {
  return status !== 'queued' && status !== 'running';
}
