import { startObjectDeletion } from '../../contract/intents/definitions.ts';
import type { Transaction } from '../../db/connect.ts';
import { addToOutbox } from '../../db/outbox.ts';

/**
 * Records the keys of objects whose rows this transaction deletes, and asks for the workflow that deletes the objects (docs/rules.md,
 * objects after rows).
 */
export async function requestObjectDeletion(trx: Transaction, organizationId: string, keys: string[]): Promise<void> {
  await addObjectsToDelete(trx, organizationId, keys);
  addToOutbox(trx, startObjectDeletion(organizationId));
}

/** Records keys in one of several transactions, the last of which asks for the workflow. */
export async function addObjectsToDelete(trx: Transaction, organizationId: string, keys: string[]): Promise<void> {
  for (let start = 0; start < keys.length; start += 1_000) {
    await trx
      .insertInto('object_to_delete')
      .values(keys.slice(start, start + 1_000).map((key) => ({ key, organization_id: organizationId })))
      .onConflict((conflict) => conflict.column('key').doNothing())
      .execute();
  }
}

/** Whether objects of an organization wait to be deleted. */
export async function hasObjectsToDelete(trx: Transaction, organizationId: string): Promise<boolean> {
  const waiting = trx.selectFrom('object_to_delete').select('key').where('organization_id', '=', organizationId).limit(1);
  return (await waiting.executeTakeFirst()) !== undefined;
}
