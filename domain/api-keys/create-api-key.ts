import { sql } from 'kysely';
import type { KeyPermission } from '../../contract/access.ts';
import { ApiError } from '../../contract/api-error.ts';
import { keysPerOrganization } from '../../contract/api-keys.ts';
import type { Transaction } from '../../db/connect.ts';
import { type Actor, recordAudit } from '../audit.ts';
import { newId } from '../ids.ts';
import { lockOrganization, lockWorkspace } from '../locks.ts';
import { workspaceNotFound } from '../workspaces/workspace.ts';
import { type ApiKeyRow, getApiKey, shownAfterExpiry } from './api-key.ts';
import { hashSecret, makeSecret, prefixOf } from './secret.ts';

interface NewApiKey {
  organizationId: string;
  workspaceId?: string | undefined;
  name: string;
  permissions: KeyPermission[];
  /** Null for a key that never expires. */
  expiresInDays: number | null;
  requestsPerMinute: number;
  /** How many credits it may use in a month; null for no limit of its own. */
  creditBudget: number | null;
}

/** A key with its secret, which nothing stores. */
export interface SecretKey {
  key: ApiKeyRow;
  secret: string;
}

/**
 * Makes a key, for which the actor is responsible. Throws NOT_FOUND if the workspace is gone, FORBIDDEN if it is another organization's,
 * CONFLICT if the organization has the maximum of keys.
 */
export async function createApiKey(trx: Transaction, actor: Actor, key: NewApiKey): Promise<SecretKey> {
  const { organizationId, workspaceId = null, name, permissions, expiresInDays, requestsPerMinute, creditBudget } = key;
  await lockOrganization(trx, organizationId);
  if (workspaceId !== null) await keepWorkspace(trx, organizationId, workspaceId);
  await checkCount(trx, organizationId);
  // The audit log and `createdBy` name keys beside users: the id tells them apart.
  const id = `key_${newId()}`;
  const secret = makeSecret();
  await trx
    .insertInto('api_key')
    .values({
      ...{ id, organization_id: organizationId, workspace_id: workspaceId, responsible_id: actor.userId, name, permissions },
      ...{ requests_per_minute: requestsPerMinute, lifetime_days: expiresInDays, credit_budget: creditBudget },
      ...{ prefix: prefixOf(secret), hash: hashSecret(secret), expires_at: expiryAfter(expiresInDays) },
    })
    .execute();
  const metadata = { name, workspaceId, permissions, expiresInDays, requestsPerMinute, creditBudget };
  await recordAudit(trx, actor, { organizationId, action: 'apiKey.create', targetId: id, metadata });
  return { key: await getApiKey(trx, id), secret };
}

/** The end of a secret that begins now, by the database's clock; null if it never ends. A day has 24 hours. */
export function expiryAfter(days: number | null) {
  return days === null ? null : sql<Date>`now() + make_interval(hours => ${24 * days})`;
}

async function keepWorkspace(trx: Transaction, organizationId: string, workspaceId: string): Promise<void> {
  const workspace = await lockWorkspace(trx, workspaceId, 'share');
  if (!workspace) throw workspaceNotFound();
  if (workspace.organization_id !== organizationId) throw new ApiError('FORBIDDEN');
}

async function checkCount(trx: Transaction, organizationId: string): Promise<void> {
  const isOld = sql<boolean>`expires_at <= now() - ${shownAfterExpiry}`;
  await trx.deleteFrom('api_key').where('organization_id', '=', organizationId).where(isOld).execute();
  const { count } = await trx
    .selectFrom('api_key')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow();
  if (count < keysPerOrganization) return;
  throw new ApiError('CONFLICT', { message: `An organization has at most ${keysPerOrganization} API keys: revoke one first.` });
}
