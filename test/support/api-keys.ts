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
