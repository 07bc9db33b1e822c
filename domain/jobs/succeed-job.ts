import type { Db, Transaction } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { JobRow } from './job.ts';
import { transitionJob } from './transition-job.ts';

/** The result of a job, and the writes that must be committed together with it. */
export interface Outcome {
  result: Record<string, unknown>;
  effects?: (trx: Transaction) => Promise<void>;
}

/**
 * Stores the result and the effects of an attempt in one transaction (docs/rules.md, fencing). False if the attempt is no longer the
 * current one: then nothing is stored. The effects come first, since they lock documents (docs/rules.md, lock order).
 */
export async function succeedJob(db: Db, job: JobRow, { result, effects }: Outcome): Promise<boolean> {
  const succeed = (trx: Db | Transaction) =>
    transitionJob(trx, { jobId: job.id, from: 'running', attempts: job.attempts, to: 'succeeded', result });
  // A statement is a transaction by itself.
  if (!effects) return (await succeed(db)) !== undefined;
  try {
    await inTransaction(db, async (trx) => {
      await effects(trx);
      if (!(await succeed(trx))) throw new AttemptSuperseded();
    });
    return true;
  } catch (error) {
    if (error instanceof AttemptSuperseded) return false;
    throw error;
  }
}

class AttemptSuperseded extends Error {}
