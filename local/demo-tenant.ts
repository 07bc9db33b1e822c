import { randomBytes } from 'node:crypto';
import { contract } from '../contract/index.ts';
import type { DemoApi } from './demo-api.ts';

/** Where the demo puts its documents. */
export interface DemoTenant {
  email: string;
  slug: string;
  organizationId: string;
  workspaceId: string;
}

/** Signs up a new user, whom later calls are made as, and makes an organization with a workspace. Throws RequestError. */
export async function createTenant(api: DemoApi): Promise<DemoTenant> {
  const slug = `demo-${randomBytes(6).toString('hex')}`;
  const email = `${slug}@example.com`;
  await api.signUp({ name: 'Demo', email, password: randomBytes(24).toString('base64url') });
  const { id: organizationId } = await api.createOrganization({ name: 'Demo', slug });
  const workspace = await api.call(contract.workspaces.create, { organizationId, name: 'Documents', slug: 'documents' });
  return { email, slug, organizationId, workspaceId: workspace.id };
}
