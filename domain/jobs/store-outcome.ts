import { sql } from 'kysely';
import type { Db, Transaction } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { JobRow } from './job.ts';
import { transitionJob } from './transition-job.ts';

/** The result of a job, and the writes that must be committed together with it. */
export interface Outcome {
  result: Record<string, unknown>;
  effects?: ((trx: Transaction) => Promise<void>) | undefined;
  /** Whether the job has more stages to do: then `result` holds those that are done, by their names. */
  isUnfinished?: boolean;
}

/**
 * Stores the result and the effects of an attempt, or of one of its stages, in one transaction (docs/rules.md, fencing). Returns the job,
 * which has succeeded, or is still running if it is unfinished; undefined if the attempt is no longer the current one: then nothing is
 * stored. The effects come first, since they lock documents (docs/rules.md, lock order).
 */
export async function storeOutcome(db: Db, job: JobRow, { result, effects, isUnfinished }: Outcome): Promise<JobRow | undefined> {
  const { id: jobId, attempts } = job;
  const store = (trx: Db | Transaction) =>
    isUnfinished ? storeStages(trx, job, result) : transitionJob(trx, { jobId, from: 'running', attempts, to: 'succeeded', result });
  // A statement is a transaction by itself.
  if (!effects) return await store(db);
  try {
    return await inTransaction(db, async (trx) => {
      await effects(trx);
      const stored = await store(trx);
      if (!stored) throw new AttemptSuperseded();
      return stored;
    });
  } catch (error) {
    if (error instanceof AttemptSuperseded) return undefined;
    throw error;
  }
}

async function storeStages(
  trx: Db | Transaction,
  { id, attempts }: Pick<JobRow, 'id' | 'attempts'>,
  stages: Record<string, unknown>,
): Promise<JobRow | undefined> {
  return await trx
    .updateTable('job')
    // The next stage may need something else, and waits anew.
    .set({ stages: JSON.stringify(stages), waits_for: null, waiting_since: null, updated_at: sql`clock_timestamp()` })
    .where('id', '=', id)
    .where('status', '=', 'running')
    .where('attempts', '=', attempts)
    .returningAll()
    .executeTakeFirst();
}

class AttemptSuperseded extends Error {}
