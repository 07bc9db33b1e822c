import { ApiError } from '../../contract/api-error.ts';
import type { Db } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import { systemActor } from '../actor.ts';
import type { GetPlan } from '../billing/plan.ts';
import { getJob } from './get-job.ts';
import { retryJob } from './retry-job.ts';

/** Retried, or why not: the code of the error, `already_retried` where another was faster. */
export type Replay = { retried: true } | { retried: false; reason: string };

/**
 * Retries one failed job for a replay, by the rules of `jobs.retry`: a new job, charged again. The pair of replay and original
 * is unique, so that a replay that is killed and goes on retries nothing twice.
 */
export async function replayJob(db: Db, getPlan: GetPlan, jobId: string, replayRun: string): Promise<Replay> {
  try {
    const original = await getJob(db, jobId);
    await inTransaction(db, (trx) => retryJob(trx, getPlan, systemActor, original, replayRun));
    return { retried: true };
  } catch (error) {
    if (error instanceof ApiError) return { retried: false, reason: error.code };
    if (isUniqueViolation(error)) return { retried: false, reason: 'already_retried' };
    throw error;
  }
}

function isUniqueViolation(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === '23505';
}
