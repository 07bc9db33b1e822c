import { randomBytes } from 'node:crypto';
import type { Client } from '../client/index.ts';

/** Where the demo puts its documents. */
export interface DemoTenant {
  email: string;
  slug: string;
  organizationId: string;
  workspaceId: string;
}

/** Signs up a new user, whom later calls are made as, and makes an organization with a workspace. Throws SheafError. */
export async function createTenant(client: Client, signal: AbortSignal): Promise<DemoTenant> {
  const slug = `demo-${randomBytes(6).toString('hex')}`;
  const email = `${slug}@example.com`;
  const password = randomBytes(24).toString('base64url');
  const { signedIn } = await client.auth.signUp({ name: 'Demo', email, password }, { signal });
  if (!signedIn) throw new Error('The service lets nobody in before the email address is verified: the demo cannot sign up.');
  const { id: organizationId } = await client.auth.createOrganization({ name: 'Demo', slug }, { signal });
  const workspace = await client.workspaces.create({ organizationId, name: 'Documents', slug: 'documents' }, { signal });
  return { email, slug, organizationId, workspaceId: workspace.id };
}
