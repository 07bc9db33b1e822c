import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { inBulkTransaction } from '../../db/transaction.ts';

/** The large tables of an organization, in the order that their references allow. */
const largeTables = ['chunk', 'job', 'document', 'credit_entry'] as const;
const batchSize = 2_000;

/**
 * Removes everything an organization owns: the large tables in batches that lock nothing for long, then the organization, whose
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
