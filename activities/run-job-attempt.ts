import { ApplicationFailure, Context } from '@temporalio/activity';
import type { Release } from '../concurrency/semaphore.ts';
import { untilAborted } from '../concurrency/until-aborted.ts';
import type { JobKind } from '../db/schema.ts';
import { claimJob } from '../domain/jobs/claim-job.ts';
import { type JobRow, type JobState, jobStateOf, type QueuedJobState } from '../domain/jobs/job.ts';
import { settleAttempt } from '../domain/jobs/settle-attempt.ts';
import { succeedJob } from '../domain/jobs/succeed-job.ts';
import type { ActivityDeps } from './deps.ts';
import { handlers } from './handlers.ts';
import { JobFailure, toApplicationFailure } from './job-failure.ts';
import { createStopSignal } from './stop-signal.ts';

/** Often enough to hear of a cancellation soon; a worker that is silent for three of them is lost. */
const heartbeatMs = 3_000;

/** A full worker holds an attempt back from others no longer than this. */
const patienceMs = 3_000;

export interface AttemptInput {
  jobId: string;
  kind: JobKind;
  /** Names the attempt, so that what settles it knows whether it claimed the job. */
  claimedBy: string;
}

/** The state that an attempt leaves its job in. `handedBack`: this worker was full and never began the attempt. */
export type AttemptReport = Exclude<JobState, QueuedJobState> | (QueuedJobState & { handedBack?: boolean });

/**
 * One attempt of a job: takes a slot of this process, claims the row, runs the kind's handler within the timeout counted from the claim, and
 * stores the result if the attempt still is the current one. Throws a coded failure, retryable or final; returns the state that
 * the job is in if it was not to be had.
 */
export async function runJobAttempt(deps: ActivityDeps, input: AttemptInput): Promise<AttemptReport> {
  const context = Context.current();
  const heartbeat = setInterval(
    () => context.heartbeat(isHeld(deps) ? 'The AI service is down: the job waits for it.' : undefined),
    heartbeatMs,
  );
  let release: Release | undefined;
  try {
    await deps.breaker?.untilClosed(context.cancellationSignal);
    release = await deps.attempts.acquireWithin(patienceMs, context.cancellationSignal);
    if (!release) return { status: 'queued', delayMs: 0, handedBack: true };
    context.cancellationSignal.throwIfAborted();
    const claim = await claimJob(deps.db, input.jobId, input.claimedBy);
    if (!claim.claimed) return jobStateOf(claim.job);
    return await runClaimed(deps, claim.job, context);
  } catch (error) {
    throw toFailure(deps, input, error, context);
  } finally {
    release?.();
    clearInterval(heartbeat);
  }
}

function isHeld({ breaker }: ActivityDeps): boolean {
  return breaker !== undefined && breaker.state !== 'closed';
}

/** What Temporal is told: a cancellation, or a coded failure. Causes that the tenant may not read stay in the log. */
function toFailure(deps: ActivityDeps, { jobId, kind }: AttemptInput, error: unknown, context: Context): unknown {
  if (context.cancellationSignal.aborted && error === context.cancellationSignal.reason) {
    // A worker that stops hands the job back; only Temporal's own cancellation ends it.
    return context.cancellationDetails?.workerShutdown ? toApplicationFailure(workerStopped) : error;
  }
  if (error instanceof ApplicationFailure) return error;
  deps.log.warn({ err: error, jobId, kind }, 'the attempt failed');
  return toApplicationFailure(error);
}

const workerStopped = new JobFailure('worker_stopped', 'The worker stopped during the attempt.', true);
const timedOut = new JobFailure('timeout', 'The attempt took too long.', true);

async function runClaimed(deps: ActivityDeps, job: JobRow, context: Context): Promise<AttemptReport> {
  const stop = createStopSignal(context, deps, job);
  const timeout = AbortSignal.timeout(deps.jobs.timeoutMs);
  const signal = AbortSignal.any([stop.signal, timeout]);
  try {
    // Fencing keeps what a handler that does not hear its signal does later from counting.
    const outcome = await untilAborted(handlers[job.kind](deps, job, signal), signal);
    const stored = await succeedJob(deps.db, job, outcome);
    if (stored) return { status: 'succeeded' };
    deps.log.warn(
      { jobId: job.id, kind: job.kind, attempt: job.attempts },
      'the attempt had been presumed lost; its result was not stored',
    );
    return { status: 'running' };
  } catch (error) {
    const failure = stop.signal.aborted ? stop.signal.reason : timeout.aborted ? timedOut : error;
    if (stop.orphaned && !stop.signal.aborted) await settleOrphan(deps, job, failure);
    throw failure;
  } finally {
    stop.done();
  }
}

/** Settles an attempt whose workflow is gone, since nobody else does before the sweep. */
async function settleOrphan(deps: ActivityDeps, job: JobRow, error: unknown): Promise<void> {
  const failure = toApplicationFailure(error);
  const { type, message, nonRetryable } = failure;
  const ended = { code: type ?? 'internal_error', message, retryable: !nonRetryable };
  await settleAttempt(deps.db, { jobId: job.id, claimedBy: job.claimed_by ?? '', failure: ended }, deps.jobs.retryDelaysMs);
}
