import type { KeyPermission } from '../../contract/access.ts';
import type { Transaction } from '../../db/connect.ts';
import { type Actor, recordAudit } from '../audit.ts';
import { lockOrganization } from '../locks.ts';
import { type ApiKeyRow, apiKeyNotFound, getApiKey } from './api-key.ts';

interface ApiKeyChanges {
  name?: string | undefined;
  permissions?: KeyPermission[] | undefined;
  requestsPerMinute?: number | undefined;
  /** Null ends a budget. */
  creditBudget?: number | null | undefined;
}

/** What the audit log calls the columns that are changed. */
const labels = {
  name: 'name',
  permissions: 'permissions',
  requests_per_minute: 'requestsPerMinute',
  credit_budget: 'creditBudget',
} as const;

/** Changes the given fields. Throws NOT_FOUND if the key is gone. */
export async function updateApiKey(
  trx: Transaction,
  actor: Actor,
  { id, organization_id: organizationId }: Pick<ApiKeyRow, 'id' | 'organization_id'>,
  { name, permissions, requestsPerMinute, creditBudget }: ApiKeyChanges,
): Promise<ApiKeyRow> {
  await lockOrganization(trx, organizationId);
  const before = await getApiKey(trx, id);
  const wanted = {
    name: name ?? before.name,
    permissions: permissions ?? before.permissions,
    requests_per_minute: requestsPerMinute ?? before.requests_per_minute,
    credit_budget: creditBudget === undefined ? before.credit_budget : creditBudget,
  };
  const changed = (Object.keys(labels) as (keyof typeof labels)[]).filter((column) => String(wanted[column]) !== String(before[column]));
  if (changed.length === 0) return before;
  const updated = await trx
    .updateTable('api_key')
    .set(wanted)
    .where('id', '=', id)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst();
  if (updated.numUpdatedRows === 0n) throw apiKeyNotFound();
  const metadata = Object.fromEntries(changed.map((column) => [labels[column], { from: before[column], to: wanted[column] }]));
  await recordAudit(trx, actor, { organizationId, action: 'apiKey.update', targetId: id, metadata });
  return getApiKey(trx, id);
}
