import { sleep } from './retry.ts';
import type { CallOptions, Job } from './types.ts';

const firstDelayMs = 200;
const maxDelayMs = 5_000;

/** Asks for a job, ever more seldom, until it is final. */
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

/** Whether a job has come to its end: it changes no more. */
export function isFinal({ status }: Pick<Job, 'status'>): boolean {
  return status !== 'queued' && status !== 'running';
}
