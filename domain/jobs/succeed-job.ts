import type { Db, Transaction } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { JobRow } from './job.ts';
import { transitionJob } from './transition-job.ts';

/** What a handler made: the job's result, and what must be stored together with it. */
export interface Outcome {
  result: Record<string, unknown>;
  effects?: (trx: Transaction) => Promise<void>;
}

/**
 * Stores an attempt's result and effects in one transaction, where the attempt still is the current one (docs/rules.md, fencing). False where
 * it was presumed lost: then nothing is stored. The job's row is locked last, as the lock order says.
 */
export async function succeedJob(db: Db, job: JobRow, outcome: Outcome): Promise<boolean> {
  try {
    await inTransaction(db, async (trx) => {
      await outcome.effects?.(trx);
      const done = await transitionJob(trx, {
        jobId: job.id,
        from: 'running',
        attempts: job.attempts,
        to: 'succeeded',
        result: outcome.result,
      });
      if (!done) throw new AttemptSuperseded();
    });
    return true;
  } catch (error) {
    if (error instanceof AttemptSuperseded) return false;
    throw error;
  }
}

class AttemptSuperseded extends Error {}
