import type { Transaction } from '../../db/connect.ts';
import { addToOutbox } from '../../db/outbox.ts';
import { startObjectDeletion } from '../../workflows/definitions.ts';

/**
 * Records the keys of objects whose rows this transaction deletes, and asks for the workflow that deletes the objects (docs/rules.md,
 * objects after rows).
 */
export async function requestObjectDeletion(trx: Transaction, organizationId: string, keys: string[]): Promise<void> {
  for (let start = 0; start < keys.length; start += 1_000) {
    await trx
      .insertInto('object_to_delete')
      .values(keys.slice(start, start + 1_000).map((key) => ({ key, organization_id: organizationId })))
      .onConflict((conflict) => conflict.column('key').doNothing())
      .execute();
  }
  addToOutbox(trx, startObjectDeletion(organizationId));
}

/** The same for every document of a workspace, in one statement. */
export async function requestWorkspaceObjectDeletion(trx: Transaction, workspace: { id: string; organization_id: string }): Promise<void> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('object_to_delete')
    .columns(['key', 'organization_id'])
    .expression((eb) => eb.selectFrom('document').select(['object_key', 'organization_id']).where('workspace_id', '=', workspace.id))
    .onConflict((conflict) => conflict.column('key').doNothing())
    .executeTakeFirstOrThrow();
  if (numInsertedOrUpdatedRows !== 0n) addToOutbox(trx, startObjectDeletion(workspace.organization_id));
}
