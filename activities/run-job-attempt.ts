import { ApplicationFailure, Context } from '@temporalio/activity';
import type { Release } from '../concurrency/fair-semaphore.ts';
import { untilAborted } from '../concurrency/until-aborted.ts';
import type { Db } from '../db/connect.ts';
import type { JobKind } from '../db/schema.ts';
import { inTransaction } from '../db/transaction.ts';
import { isLockTimeout } from '../db/unavailable.ts';
import { DocumentGone } from '../domain/documents/document.ts';
import { claimJob } from '../domain/jobs/claim-job.ts';
import { type JobRow, type JobState, jobStateOf, type QueuedJobState } from '../domain/jobs/job.ts';
import { settleAttempt, workspaceLocked } from '../domain/jobs/settle-attempt.ts';
import { succeedJob } from '../domain/jobs/succeed-job.ts';
import { lockWorkspaceIndex } from '../domain/locks.ts';
import { isWorkspaceThere } from '../domain/workspaces/workspace.ts';
import type { ActivityDeps } from './deps.ts';
import { handlers } from './handlers.ts';
import { JobFailure, toApplicationFailure, toAttemptFailure } from './job-failure.ts';
import { createStopSignal } from './stop-signal.ts';

/** A heartbeat's reply brings a cancellation. A worker that misses three of them is lost. */
const heartbeatMs = 3_000;

/** How often a transaction of an attempt may wait in vain for a lock. */
const mostLockWaits = 3;

export interface AttemptInput {
  jobId: string;
  kind: JobKind;
  /** Whose slot it takes. A workflow of an earlier release does not say it. */
  organizationId?: string;
  /** Names the attempt; see {@link claimJob}. */
  claimedBy: string;
}

/**
 * The state of the job after an attempt. `handedBack`: this worker was full and did not begin the attempt; `behindOwn`: its organization had
 * attempts there, and that of another might have begun.
 */
export type AttemptReport = Exclude<JobState, QueuedJobState> | (QueuedJobState & { handedBack?: boolean; behindOwn?: boolean });

/**
 * One attempt of a job: takes a slot of this process, claims the row, runs the handler of its kind, and stores the result if the attempt
 * is still the current one. The timeout counts from the claim. Returns the job's state if it could not be claimed. Throws a coded
 * failure, retryable or final.
 */
export async function runJobAttempt(deps: ActivityDeps, input: AttemptInput): Promise<AttemptReport> {
  const context = Context.current();
  let told: string | undefined;
  const heartbeat = setInterval(
    () => context.heartbeat(isHeld(deps) ? 'The AI service is down: the job waits for it.' : told),
    heartbeatMs,
  );
  const tell = (progress: string) => {
    told = progress;
  };
  let release: Release | undefined;
  try {
    await deps.breaker?.untilClosed(context.cancellationSignal);
    const slot = await deps.attempts.acquire(input.organizationId ?? '', context.cancellationSignal);
    if (typeof slot !== 'function') return { status: 'queued', delayMs: 0, handedBack: true, ...slot };
    release = slot;
    context.cancellationSignal.throwIfAborted();
    const claim = await claimJob(deps.db, input.jobId, input.claimedBy);
    if (!claim.claimed) return await jobStateOf(deps.db, claim.job);
    return await runClaimed(deps, claim.job, { context, tell });
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

/** What Temporal records: a cancellation, or a coded failure. Causes that the tenant may not read stay in the log. */
function toFailure(deps: ActivityDeps, { jobId, kind }: AttemptInput, error: unknown, context: Context): unknown {
  if (context.cancellationSignal.aborted && error === context.cancellationSignal.reason) {
    // A worker that stops also cancels its attempts, but the job must be tried again.
    return context.cancellationDetails?.workerShutdown ? toApplicationFailure(workerStopped) : error;
  }
  if (error instanceof ApplicationFailure) return error;
  deps.log.warn({ err: error, jobId, kind }, 'the attempt failed');
  return toApplicationFailure(error);
}

const workerStopped = new JobFailure('worker_stopped', 'The worker stopped during the attempt.', true);
/** Other work holds the locks that an attempt needs, such as the switch of its workspace to another model, for up to a quarter of an hour. */
const locked = new JobFailure(workspaceLocked, 'The document is locked by other work, such as the switch to another model.', true, {
  retryAfterMs: 60_000,
});
/** The drain of the workspace fails its jobs in the same way, but may come to this one much later. */
const workspaceMissing = new JobFailure('workspace_missing', 'The workspace of this job was deleted.', false);
const timedOut = new JobFailure('timeout', 'The attempt took too long.', true);

async function runClaimed(
  deps: ActivityDeps,
  job: JobRow,
  { context, tell }: { context: Context; tell: (progress: string) => void },
): Promise<AttemptReport> {
  const stop = createStopSignal(context, deps, job);
  const timeout = AbortSignal.timeout(deps.jobs.timeoutMs);
  const signal = AbortSignal.any([stop.signal, timeout]);
  try {
    // A handler that ignores its signal may go on; fencing makes its result void.
    if (job.error_code === workspaceLocked) await waitPatiently(() => untilUnlocked(deps.db, job), signal);
    const outcome = await untilAborted(handlers[job.kind](deps, job, signal, tell), signal);
    const stored = await waitPatiently(() => succeedJob(deps.db, job, outcome), signal);
    if (stored) return { status: 'succeeded' };
    if (job.workspace_id !== null && !(await isWorkspaceThere(deps.db, job.workspace_id)))
      throw job.document_id === null ? workspaceMissing : new DocumentGone();
    deps.log.warn(
      { jobId: job.id, kind: job.kind, attempt: job.attempts },
      'the attempt had been presumed lost; its result was not stored',
    );
    // Whoever took the job over runs it now.
    return { status: 'running' };
  } catch (error) {
    const failure = stop.signal.aborted ? stop.signal.reason : timeout.aborted ? timedOut : error;
    if (stop.orphaned && !stop.signal.aborted) await settleOrphan(deps, job, failure);
    throw failure;
  } finally {
    stop.done();
  }
}

/**
 * Runs a transaction, and repeats it if it timed out waiting for a lock: some locks are held for longer than one transaction waits, and
 * another attempt would repeat all the work. Throws {@link locked} after the last try.
 */
async function waitPatiently<T>(transaction: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let waits = 1; ; waits += 1) {
    try {
      return await transaction();
    } catch (error) {
      if (signal.aborted || !isLockTimeout(error)) throw error;
      if (waits === mostLockWaits) throw locked;
    }
  }
}

/** Waits until the lock is free that kept the attempt before from storing its result, so that this one does not work in vain. */
async function untilUnlocked(db: Db, { workspace_id: workspaceId }: JobRow): Promise<void> {
  if (workspaceId !== null) await inTransaction(db, (trx) => lockWorkspaceIndex(trx, workspaceId, 'keep'));
}

/** Settles an attempt whose workflow is gone: otherwise only the sweep would. */
async function settleOrphan(deps: ActivityDeps, job: JobRow, error: unknown): Promise<void> {
  const ended = { jobId: job.id, claimedBy: job.claimed_by ?? '', failure: toAttemptFailure(error) };
  await settleAttempt(deps.db, ended, deps.jobs.retryDelaysMs);
}
