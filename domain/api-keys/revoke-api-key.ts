import type { Transaction } from '../../db/connect.ts';
import { type Actor, recordAudit } from '../audit.ts';
import { lockOrganization } from '../locks.ts';
import type { WorkspaceRow } from '../workspaces/workspace.ts';
import { type ApiKeyRow, apiKeyNotFound } from './api-key.ts';

/** Deletes a key with its secrets. Throws NOT_FOUND if it is gone. */
export async function revokeApiKey(
  trx: Transaction,
  actor: Actor,
  { id, organization_id: organizationId }: Pick<ApiKeyRow, 'id' | 'organization_id'>,
): Promise<void> {
  await lockOrganization(trx, organizationId);
  const revoked = await trx
    .deleteFrom('api_key')
    .where('id', '=', id)
    .where('organization_id', '=', organizationId)
    .returning('name')
    .executeTakeFirst();
  if (!revoked) throw apiKeyNotFound();
  const metadata = { name: revoked.name };
  await recordAudit(trx, actor, { organizationId, action: 'apiKey.revoke', targetId: id, metadata });
}

/** Deletes the keys of a workspace that is being deleted. Its organization is locked. */
export async function revokeWorkspaceKeys(
  trx: Transaction,
  actor: Actor,
  { id: workspaceId, organization_id: organizationId }: Pick<WorkspaceRow, 'id' | 'organization_id'>,
): Promise<void> {
  const keys = trx.deleteFrom('api_key').where('organization_id', '=', organizationId).where('workspace_id', '=', workspaceId);
  for (const { id, name } of await keys.returning(['id', 'name']).execute())
    await recordAudit(trx, actor, { organizationId, action: 'apiKey.revoke', targetId: id, metadata: { name, workspaceId } });
}
