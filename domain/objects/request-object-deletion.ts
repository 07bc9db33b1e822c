import type { Transaction } from '../../db/connect.ts';
import { addToOutbox, type OutboxMessage } from '../../db/outbox.ts';

/** The id of the workflow that drains an organization's objects to delete: one at a time for each organization. */
export function deleteObjectsWorkflowId(organizationId: string): string {
  return `delete-objects-${organizationId}`;
}

/**
 * Notes the keys of objects whose rows this transaction removes, and asks for the workflow that deletes them (rule 6). The
 * signal makes a run that is about to end look again.
 */
export async function requestObjectDeletion(trx: Transaction, organizationId: string, keys: string[]): Promise<OutboxMessage> {
  for (let start = 0; start < keys.length; start += 1_000) {
    await trx
      .insertInto('object_to_delete')
      .values(keys.slice(start, start + 1_000).map((key) => ({ key, organization_id: organizationId })))
      .onConflict((conflict) => conflict.column('key').doNothing())
      .execute();
  }
  return askForDeletion(trx, organizationId);
}

/** The same for every document of a workspace, in one statement however many there are; undefined where it has none. */
export async function requestWorkspaceObjectDeletion(
  trx: Transaction,
  workspace: { id: string; organization_id: string },
): Promise<OutboxMessage | undefined> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('object_to_delete')
    .columns(['key', 'organization_id'])
    .expression((eb) => eb.selectFrom('document').select(['object_key', 'organization_id']).where('workspace_id', '=', workspace.id))
    .onConflict((conflict) => conflict.column('key').doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 0n ? undefined : askForDeletion(trx, workspace.organization_id);
}

function askForDeletion(trx: Transaction, organizationId: string): Promise<OutboxMessage> {
  return addToOutbox(trx, {
    operation: 'start',
    workflowId: deleteObjectsWorkflowId(organizationId),
    workflow: 'deleteObjects',
    input: { organizationId },
    signal: 'objectsAdded',
  });
}
