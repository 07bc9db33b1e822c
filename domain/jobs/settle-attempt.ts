import { canceledByOperator } from '../../contract/intents/definitions.ts';
import type { Db, Transaction } from '../../db/connect.ts';
import type { OutagePart } from '../../db/schema.ts';
import { inTransaction } from '../../db/transaction.ts';
import { recordAudit, systemActor } from '../audit.ts';
import { refundJob } from '../credits/ledger.ts';
import { lockJob } from '../locks.ts';
import { isOfRun } from './attempt-name.ts';
import { isFinal, type JobError, type JobHead, type JobState, jobStateOf } from './job.ts';
import { transitionJob } from './transition-job.ts';

/**
 * The code of an attempt whose result could not be stored, because other work held the locks for too long. Such an attempt does not count:
 * the job did not cause it, and other work, such as the switch of a large workspace, may last longer than all attempts.
 */
export const workspaceLocked = 'workspace_locked';

/** Why an attempt failed. */
export interface AttemptFailure extends JobError {
  retryable: boolean;
  /** The wait that the AI service asked for; see {@link retryDelayMs}. */
  retryAfterMs?: number | undefined;
  /** The part that the job needs and that is down. */
  waitsFor?: OutagePart | undefined;
  /** The attempt does not count: what it needs was known to be down. */
  uncounted?: boolean;
}

export interface EndedAttempt {
  jobId: string;
  /** The name of the attempt, as in its claim; or the run whose attempts Temporal has given up. */
  claimedBy: string;
  /** Absent if no attempt failed and the caller only asks for the state of the job. */
  failure?: AttemptFailure | undefined;
}

/**
 * Decides from the row what a failed, timed out or dead attempt means for its job. Idempotent. An attempt that never claimed the job does
 * not count; one whose job was claimed by another attempt since changes nothing.
 */
export async function settleAttempt(db: Db, { jobId, claimedBy, failure }: EndedAttempt, delaysMs: readonly number[]): Promise<JobState> {
  return inTransaction(db, async (trx) => {
    const job = await lockJob(trx, jobId);
    if (!job || isFinal(job.status) || !failure) return jobStateOf(trx, job);
    if (job.status === 'queued') return failure.retryable ? jobStateOf(trx, job) : failJob(trx, job, failure);
    if (job.claimed_by !== claimedBy && !isOfRun(job.claimed_by, claimedBy)) return { status: 'running' };
    return settleRunning(trx, job, failure, delaysMs);
  });
}

async function settleRunning(trx: Transaction, job: JobHead, failure: AttemptFailure, delaysMs: readonly number[]): Promise<JobState> {
  const uncounted = failure.code === workspaceLocked || failure.uncounted === true;
  if (!failure.retryable || (job.attempts >= job.max_attempts && !uncounted)) return failJob(trx, job, failure);
  const delayMs = retryDelayMs(job.attempts, delaysMs, failure.retryAfterMs);
  const error = { code: failure.code, message: failure.message };
  const { waitsFor } = failure;
  await transitionJob(trx, { jobId: job.id, from: 'running', attempts: job.attempts, to: 'queued', error, delayMs, uncounted, waitsFor });
  return { status: 'queued', delayMs };
}

/** Makes a job failed, and gives its credits back. */
export async function failJob(trx: Transaction, job: JobHead, error: JobError): Promise<JobState> {
  const { code, message } = error;
  const failed = await transitionJob(trx, {
    jobId: job.id,
    from: job.status,
    attempts: job.attempts,
    to: 'failed',
    error: { code, message },
  });
  if (failed) await refundJob(trx, failed, 'failed');
  if (failed && code === canceledByOperator) await recordCancellation(trx, job);
  return { status: 'failed', error: { code, message } };
}

/** Temporal does not tell who it was. */
async function recordCancellation(trx: Transaction, { id, organization_id: organizationId, kind }: JobHead): Promise<void> {
  const event = { organizationId, action: 'job.cancel', targetId: id, metadata: { kind, by: 'operator' } };
  await recordAudit(trx, systemActor, event);
}

/**
 * How long to wait after an attempt (1 is the first) before the next one, in milliseconds: the first of `delaysMs`
 * after the first attempt, and so on; the last one repeats.
 * A provider that asked for a longer wait gets it, up to the longest of `delaysMs`.
 */
function retryDelayMs(attempts: number, delaysMs: readonly number[], askedMs = 0): number {
  const delayMs = delaysMs[Math.min(attempts, delaysMs.length) - 1] ?? 0;
  return Math.max(delayMs, Math.min(askedMs, Math.max(...delaysMs, 0)));
}
