import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { addToOutbox } from '../../db/outbox.ts';
import { inBulkTransaction, inTransaction } from '../../db/transaction.ts';
import type { Storage } from '../../storage/port.ts';
import { tellJobCanceled } from '../../workflows/definitions.ts';
import { failJob } from '../jobs/settle-attempt.ts';
import { lockUnfinishedJobs } from '../locks.ts';

const organizationDeleted = { code: 'organization_deleted', message: 'The organization was deleted.' };

/**
 * Fails and refunds a batch of the unfinished jobs of an organization that is being deleted, and signals their workflows. A running
 * attempt finds its job final and stores nothing. Returns how many jobs ended: 0 once none is left.
 */
export async function endOrganizationJobs(db: Db, organizationId: string, limit: number): Promise<number> {
  return inTransaction(db, async (trx) => {
    const jobs = await lockUnfinishedJobs(trx, organizationId, limit);
    for (const job of jobs) {
      await failJob(trx, job, organizationDeleted);
      addToOutbox(trx, tellJobCanceled(job.id));
    }
    return jobs.length;
  });
}

export interface DeletedObjects {
  deleted: number;
  /** Objects that the store refused to delete. `object_to_delete` has them now, and they are tried again. */
  failed: number;
}

const parallelDeletions = 20;

/**
 * Deletes every stored object of an organization, listed a page at a time (docs/rules.md, large things are bounded). The counts begin at
 * `before` and are reported after each batch, so that the next attempt continues the count of one that died.
 */
export async function deleteOrganizationObjects(
  db: Db,
  storage: Storage,
  organizationId: string,
  { before, onProgress, signal }: { before: DeletedObjects; onProgress: (counts: DeletedObjects) => void; signal: AbortSignal },
): Promise<DeletedObjects> {
  const counts = { ...before };
  let batch: string[] = [];
  for await (const { key } of storage.list(`${organizationId}/`)) {
    signal.throwIfAborted();
    batch.push(key);
    if (batch.length < parallelDeletions) continue;
    await deleteBatch(batch);
    batch = [];
  }
  await deleteBatch(batch);
  return counts;

  async function deleteBatch(keys: string[]): Promise<void> {
    const results = await Promise.all(keys.map((key) => deleteOne(db, storage, organizationId, key)));
    for (const result of results) counts[result]++;
    onProgress(counts);
  }
}

async function deleteOne(db: Db, storage: Storage, organizationId: string, key: string): Promise<keyof DeletedObjects> {
  try {
    await storage.delete(key);
    return 'deleted';
  } catch (error) {
    const last_error = (error instanceof Error ? error.message : String(error)).slice(0, 500);
    await db
      .insertInto('object_to_delete')
      .values({ key, organization_id: organizationId, attempts: 1, last_error })
      .onConflict((conflict) => conflict.column('key').doUpdateSet({ last_error }))
      .execute();
    return 'failed';
  }
}

/** The large tables of an organization, in the order that their references allow. */
const largeTables = ['chunk', 'job', 'document', 'credit_entry'] as const;
const batchSize = 2_000;

/**
 * Deletes everything that an organization owns: the large tables in batches, which hold locks only briefly, then the organization, whose
 * remaining rows go by cascade. Its audit entries stay. Deleting one that is gone changes nothing.
 */
export async function deleteOrganizationRows(db: Db, organizationId: string, onProgress: () => void): Promise<void> {
  for (const table of largeTables) {
    for (let deleted = batchSize; deleted >= batchSize; onProgress()) {
      const { numAffectedRows } = await sql`
        delete from ${sql.table(table)} where id in (
          select id from ${sql.table(table)} where organization_id = ${organizationId} limit ${batchSize}
        )
      `.execute(db);
      deleted = Number(numAffectedRows ?? 0);
    }
  }
  await inBulkTransaction(db, async (trx) => {
    await trx.deleteFrom('subscription').where('referenceId', '=', organizationId).execute();
    await trx.updateTable('session').set({ activeOrganizationId: null }).where('activeOrganizationId', '=', organizationId).execute();
    await trx.deleteFrom('organization').where('id', '=', organizationId).execute();
  });
}
