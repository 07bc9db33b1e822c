import { type KeyPermission, keyPermissions } from '../../contract/access.ts';
import type { Tenant, TestApi, TestUser } from './api.ts';
import { expectOk } from './requests.ts';

/** An API key that a test may call with: its secret is the token. */
export interface TestKey {
  id: string;
  token: string;
}

export interface KeyOptions {
  /** All that a key may hold by default. */
  permissions?: readonly KeyPermission[];
  workspaceId?: string;
  expiresInDays?: number | null;
  requestsPerMinute?: number;
  creditBudget?: number;
  /** Who makes it; the owner of the tenant by default. */
  by?: TestUser;
}

/** Callers who may read a tenant's documents, and what ends that: a key that is revoked, a member who is removed; with the error after it. */
export async function losingAccess(api: Pick<TestApi, 'request' | 'signUp' | 'addMember' | 'database'>, tenant: Tenant) {
  const { db } = api.database;
  const key = await createKey(api, tenant, { permissions: ['document:read'] });
  const member = await api.signUp();
  await api.addMember(tenant.organizationId, member, 'member');
  return [
    { token: key.token, code: 'UNAUTHORIZED', end: () => db.deleteFrom('api_key').where('id', '=', key.id).execute() },
    { token: member.token, code: 'FORBIDDEN', end: () => db.deleteFrom('member').where('userId', '=', member.id).execute() },
  ];
}

/** Makes an API key of a tenant's organization. */
export async function createKey(
  api: Pick<TestApi, 'request'>,
  { owner, organizationId }: Pick<Tenant, 'owner' | 'organizationId'>,
  { permissions = keyPermissions, by = owner, ...options }: KeyOptions = {},
): Promise<TestKey> {
  const body = { organizationId, name: 'Test', permissions, ...options };
  const { body: created } = await expectOk(api.request('POST', '/api/v1/api-keys', { token: by.token, body }));
  return { id: created.id, token: created.secret };
}
