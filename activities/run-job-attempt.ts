import { ApplicationFailure, Context } from '@temporalio/activity';
import { type Release, SemaphoreClosed } from '../base/concurrency/semaphore.ts';
import { untilAborted } from '../base/concurrency/until-aborted.ts';
import { heldElsewhere } from '../contract/intents/definitions.ts';
import type { Db } from '../db/connect.ts';
import type { OutagePart } from '../db/schema.ts';
import { inTransaction } from '../db/transaction.ts';
import { isLockTimeout } from '../db/unavailable.ts';
import { DocumentGone } from '../domain/documents/document.ts';
import { isBefore, nameAttempt } from '../domain/jobs/attempt-name.ts';
import { type Claim, claimJob } from '../domain/jobs/claim-job.ts';
import { type EndedJob, findJob, type JobRow, type JobState, jobStateOf } from '../domain/jobs/job.ts';
import { type AttemptFailure, settleAttempt, workspaceLocked } from '../domain/jobs/settle-attempt.ts';
import { storeOutcome } from '../domain/jobs/store-outcome.ts';
import { lockWorkspaceIndex } from '../domain/locks.ts';
import { isWorkspaceThere } from '../domain/workspaces/workspace.ts';
import type { ActivityDeps } from './deps.ts';
import { handlers } from './handlers.ts';
import { JobFailure, toApplicationFailure, toSettledFailure } from './job-failure.ts';
import { ProviderWatch } from './provider-watch.ts';
import { type Shown, showRunning } from './show-running.ts';
import { createStopSignal } from './stop-signal.ts';

/** Cancellations come with the response to a heartbeat. A worker that misses three heartbeats counts as lost. */
const heartbeatMs = 3_000;

/** The wait before an attempt checks again a job that another run holds. */
const heldElsewhereMs = 15_000;

/** How often a transaction of an attempt may time out waiting for a lock. */
const maxLockWaits = 3;

export interface AttemptInput {
  jobId: string;
}

/**
 * One attempt of a job, which Temporal repeats: takes a slot of this process, claims the row, runs the handler of its kind, and stores the
 * result if the attempt is still the current one. A failure is settled in the row before it is thrown. The timeout counts from the claim, and
 * anew from each stage that is stored. Returns how the job ended, or that it waits for what is down. Throws a coded failure, retryable or
 * final, or the cancellation.
 */
export async function runJobAttempt(deps: ActivityDeps, { jobId }: AttemptInput): Promise<JobState> {
  const context = Context.current();
  const { cancellationSignal } = context;
  let told: string | undefined;
  const heartbeat = setInterval(() => context.heartbeat(told), heartbeatMs);
  const tell = (progress: string) => {
    told = progress;
  };
  let release: Release | undefined;
  try {
    release = await deps.attempts.acquire(cancellationSignal);
    cancellationSignal.throwIfAborted();
    const claim = await claimOrTakeOver(deps, jobId, nameOf(context));
    if (claim.claimed) return await runClaimed(deps, claim, { context, tell });
    const state = await jobStateOf(deps.db, claim.job);
    return claim.waits ? state : endedOrLater(state);
  } catch (error) {
    throw toFailure(deps, jobId, error, context);
  } finally {
    release?.();
    clearInterval(heartbeat);
  }
}

function nameOf({ info }: Context): string {
  return nameAttempt({ runId: info.workflowExecution?.runId ?? '', activityId: info.activityId, attempt: info.attempt });
}

/**
 * Claims the job. A job held by an earlier attempt of this activity, which Temporal has given up, is taken over: that attempt counts as lost.
 */
async function claimOrTakeOver({ db, jobs }: ActivityDeps, jobId: string, name: string): Promise<Claim> {
  const claim = await claimJob(db, jobId, name, jobs.outages);
  if (claim.claimed || claim.job?.status !== 'running' || !isBefore(claim.job.claimed_by, name)) return claim;
  await settleAttempt(db, { jobId, claimedBy: claim.job.claimed_by, failure: workerLost }, [0]);
  return await claimJob(db, jobId, name, jobs.outages);
}

/** The end of the job. Throws if it has not ended: another run holds it, or it is not due. */
function endedOrLater(state: JobState): EndedJob {
  if (state.status !== 'queued' && state.status !== 'running') return state;
  const nextRetryDelay = state.status === 'queued' ? state.delayMs : heldElsewhereMs;
  const message = state.status === 'queued' ? 'The job is not due yet.' : 'Another run holds the job.';
  throw ApplicationFailure.create({ type: heldElsewhere, message, nextRetryDelay, category: 'BENIGN' });
}

/** The error for Temporal: a cancellation, or a coded failure. Causes that the tenant may not read stay in the log. */
function toFailure({ log }: ActivityDeps, jobId: string, error: unknown, { cancellationSignal, cancellationDetails }: Context): unknown {
  if (error instanceof ApplicationFailure) return error;
  // A worker that stops also cancels its attempts, but the job must be retried.
  if (error instanceof SemaphoreClosed || cancellationDetails?.workerShutdown) return toApplicationFailure(workerStopped);
  if (cancellationSignal.aborted && error === cancellationSignal.reason) return error;
  log.warn({ err: error, jobId }, 'the attempt could not begin');
  return toApplicationFailure(error);
}

const workerLost = new JobFailure('worker_lost', 'The worker was lost during the attempt.', true);
const workerStopped = new JobFailure('worker_stopped', 'The worker stopped during the attempt.', true);
/** Other work may hold the locks that an attempt needs for up to 15 minutes, such as the switch of its workspace to another model. */
const locked = new JobFailure(workspaceLocked, 'The document is locked by other work, such as the switch to another model.', true, {
  retryAfterMs: 60_000,
});
/** The drain of the workspace fails its jobs with the same error, but may reach this one much later. */
const workspaceMissing = new JobFailure('workspace_missing', 'The workspace of this job was deleted.', false);
const timedOut = new JobFailure('timeout', 'The attempt took too long.', true);

async function runClaimed(
  deps: ActivityDeps,
  { job, probes }: { job: JobRow; probes: OutagePart[] },
  { context, tell }: { context: Context; tell: (progress: string) => void },
): Promise<EndedJob> {
  const providers = new ProviderWatch(deps, probes);
  const stop = createStopSignal(context, deps, job);
  const shown = showRunning(context, deps.log);
  try {
    let current: JobRow | undefined = job;
    while (current?.status === 'running') {
      current = await doStage(deps, current, { stop: stop.signal, tell });
      await providers.noteSuccess();
      if (current?.status === 'running') await providers.admit(current);
    }
    if (current) return { status: 'succeeded' };
    await checkWorkspace(deps.db, job);
  } catch (error) {
    const stopped = context.cancellationDetails?.workerShutdown === true;
    // The workflow settles attempts that Temporal cancels.
    if (stop.signal.aborted && !stopped) {
      await providers.free();
      throw stop.signal.reason;
    }
    const cause = stop.signal.aborted ? workerStopped : error;
    return await settle(deps, job, { cause, failure: await providers.noteFailure(cause, job) }, shown);
  } finally {
    stop.done();
    shown.done();
  }
  const { id: jobId, kind, attempts: attempt } = job;
  deps.log.warn({ jobId, kind, attempt }, 'the attempt had been presumed lost; its result was not stored');
  return endedOrLater(await jobStateOf(deps.db, await findJob(deps.db, jobId)));
}

/**
 * Does the work of a job, or its next stage if it has several, and stores the outcome. Returns the job as stored; undefined if the attempt is
 * no longer the current one. Throws {@link timedOut}, or the error of the handler.
 */
async function doStage(
  deps: ActivityDeps,
  job: JobRow,
  { stop, tell }: { stop: AbortSignal; tell: (progress: string) => void },
): Promise<JobRow | undefined> {
  const timeout = AbortSignal.timeout(deps.jobs.timeoutMs);
  const signal = AbortSignal.any([stop, timeout]);
  try {
    if (job.error_code === workspaceLocked) await waitPatiently(() => untilUnlocked(deps.db, job), signal);
    // A handler that ignores its signal may go on; fencing makes its result void.
    const outcome = await untilAborted(handlers[job.kind](deps, job, signal, tell), signal);
    return await waitPatiently(() => storeOutcome(deps.db, job, outcome), signal);
  } catch (error) {
    throw timeout.aborted ? timedOut : error;
  }
}

/** Settles the failure of an attempt in its job's row, and throws it for Temporal. If the job has ended otherwise, returns its end. */
async function settle(
  { db, log, jobs }: ActivityDeps,
  job: JobRow,
  { cause, failure }: { cause: unknown; failure: AttemptFailure },
  shown: Shown,
): Promise<EndedJob> {
  const { id: jobId, kind, claimed_by: claimedBy } = job;
  log.warn({ err: cause, jobId, kind }, 'the attempt failed');
  const state = await settleAttempt(db, { jobId, claimedBy: claimedBy ?? '', failure }, jobs.retryDelaysMs).catch((error: unknown) => {
    log.warn({ err: error, jobId, kind }, 'the failure of an attempt was not stored; the next attempt counts it as lost');
    throw ApplicationFailure.retryable(failure.message, failure.code);
  });
  if (state.status === 'failed') throw toSettledFailure(state.error, state);
  if (state.status === 'queued') {
    await shown.queuedAgain();
    throw toSettledFailure(failure, state);
  }
  return endedOrLater(state);
}

/** Throws if the workspace of a job is deleted, in which no job may succeed. */
async function checkWorkspace(db: Db, { workspace_id: workspaceId, document_id: documentId }: JobRow): Promise<void> {
  if (workspaceId === null || (await isWorkspaceThere(db, workspaceId))) return;
  throw documentId === null ? workspaceMissing : new DocumentGone();
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
      if (waits === maxLockWaits) throw locked;
    }
  }
}

/** Waits for the lock that kept the previous attempt from storing its result, so that this one does not work in vain. */
async function untilUnlocked(db: Db, { workspace_id: workspaceId }: JobRow): Promise<void> {
  if (workspaceId !== null) await inTransaction(db, (trx) => lockWorkspaceIndex(trx, workspaceId, 'share'));
}
