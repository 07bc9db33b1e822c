import { Context } from '@temporalio/activity';
import type { JobKind } from '../db/schema.ts';
import { claimJob } from '../domain/jobs/claim-job.ts';
import type { JobRow } from '../domain/jobs/job-row.ts';
import { type Settlement, standingOf } from '../domain/jobs/settlement.ts';
import { succeedJob } from '../domain/jobs/succeed-job.ts';
import type { ActivityDeps } from './deps.ts';
import { handlers } from './handlers/index.ts';
import { JobFailure, toApplicationFailure } from './job-failure.ts';

/** Often enough to hear of a cancellation soon; a worker that is silent for three of them is lost. */
const heartbeatMs = 3_000;

export interface AttemptInput {
  jobId: string;
  kind: JobKind;
  /** Names the attempt, so that what settles it knows whether it claimed the job. */
  claimedBy: string;
}

/**
 * One attempt of a job: takes a permit, claims the row, runs the kind's handler within the timeout counted from the claim, and
 * stores the result where the attempt still is the current one. Throws a coded failure, retryable or final; answers where the
 * job stands when it was not to be had.
 */
export async function runJobAttempt(deps: ActivityDeps, input: AttemptInput): Promise<Settlement> {
  const context = Context.current();
  const heartbeat = setInterval(
    () => context.heartbeat(deps.outage?.isDown ? 'The AI service is down: the job waits for it.' : undefined),
    heartbeatMs,
  );
  let release = () => {};
  try {
    await deps.outage?.wait(context.cancellationSignal);
    release = await deps.permits.acquire(context.cancellationSignal);
    const claim = await claimJob(deps.db, input.jobId, input.claimedBy);
    if (!claim.claimed) return standingOf(claim.job);
    return await runClaimed(deps, claim.job, context.cancellationSignal);
  } catch (error) {
    // A worker that stops hands the job back; only Temporal's own cancellation ends it.
    if (context.cancellationSignal.aborted && context.cancellationDetails?.workerShutdown) throw toApplicationFailure(workerStopped);
    throw error;
  } finally {
    release();
    clearInterval(heartbeat);
  }
}

const workerStopped = new JobFailure('worker_stopped', 'The worker stopped during the attempt.', true);

async function runClaimed(deps: ActivityDeps, job: JobRow, canceled: AbortSignal): Promise<Settlement> {
  const log = deps.log.child({ jobId: job.id, kind: job.kind, attempt: job.attempts });
  const timeout = AbortSignal.timeout(deps.jobs.timeoutMs);
  const signal = AbortSignal.any([canceled, timeout]);
  try {
    const outcome = await withSignal(handlers[job.kind](deps, job, signal), signal);
    const stored = await succeedJob(deps.db, job, outcome);
    if (!stored) log.warn('the attempt had been presumed lost; its result was not stored');
    return stored ? { status: 'succeeded' } : { status: 'running' };
  } catch (error) {
    if (canceled.aborted) throw canceled.reason;
    if (timeout.aborted) throw toApplicationFailure(new JobFailure('timeout', 'The attempt took too long.', true));
    log.warn({ err: error }, 'the attempt failed');
    throw toApplicationFailure(error);
  }
}

/** Stops waiting for a handler that does not hear its signal; fencing keeps what it does later from counting. */
async function withSignal<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
    work.catch(() => {});
  }
}
