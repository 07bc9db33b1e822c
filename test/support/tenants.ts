import { randomUUID } from 'node:crypto';
import { deriveKey } from '../../base/config/keys.ts';
import type { TestDatabase } from './database.ts';
import { expectOk, type Requests } from './requests.ts';
import { noteText } from './run-secrets.ts';
import { insertSession, insertUser } from './users.ts';

export interface TestUser {
  id: string;
  email: string;
  token: string;
}

export interface Tenant {
  owner: TestUser;
  organizationId: string;
  slug: string;
  workspaceId: string;
}

/** How tests make users, tenants and documents. */
export interface Tenants {
  /** A new user with a session, made without a request. */
  signUp(name?: string): Promise<TestUser>;
  /** A user with an organization and a workspace. */
  createTenant(): Promise<Tenant>;
  /** Makes a user a member of an organization; the row is written as better-auth writes it. */
  addMember(organizationId: string, user: TestUser, role: 'owner' | 'admin' | 'member'): Promise<void>;
  makePlatformAdmin(user: TestUser): Promise<void>;
  /** Creates a document, uploads its bytes and completes it. */
  upload(
    tenant: Pick<Tenant, 'owner' | 'workspaceId'>,
    file: { name?: string; contentType?: string; bytes: Uint8Array | string },
  ): Promise<{ id: string }>;
}

/** Makes what tests work with through an API, or in its database where no request would. `authSecret` is the API's AUTH_SECRET. */
export function createTenants({ request }: Requests, { db }: TestDatabase, authSecret: string): Tenants {
  const secret = deriveKey(authSecret, 'session').toString('base64url');

  async function signUp(name = 'Ada'): Promise<TestUser> {
    const user = await insertUser(db, name);
    return { ...user, token: await insertSession(db, user.id, secret) };
  }

  return {
    signUp,
    async createTenant() {
      const owner = await signUp();
      const slug = `org-${randomUUID()}`;
      const { token } = owner;
      const organization = await expectOk(request('POST', '/api/auth/organization/create', { token, body: { name: slug, slug } }));
      const organizationId = organization.body.id;
      const body = { organizationId, name: 'Main', slug: 'main' };
      const workspace = await expectOk(request('POST', '/api/v1/workspaces', { token, body }));
      return { owner, organizationId, slug, workspaceId: workspace.body.id };
    },
    async addMember(organizationId, user, role) {
      await db.insertInto('member').values({ id: randomUUID(), organizationId, userId: user.id, role, createdAt: new Date() }).execute();
    },
    async makePlatformAdmin(user) {
      await db.updateTable('user').set({ role: 'admin' }).where('id', '=', user.id).execute();
    },
    async upload({ owner: { token }, workspaceId }, { name = 'note.txt', contentType = 'text/plain', bytes }) {
      const data = typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes;
      noteText(bytes);
      const body = { workspaceId, name, contentType, size: data.length };
      const created = await expectOk(request('POST', '/api/v1/documents', { token, body }));
      const { document, upload } = created.body;
      const put = await fetch(upload.url, { method: 'PUT', headers: upload.headers, body: data as Uint8Array<ArrayBuffer> });
      if (put.status !== 200) throw new Error(`the upload of a test got ${put.status}: ${await put.text()}`);
      await expectOk(request('POST', `/api/v1/documents/${document.id}/complete`, { token }));
      return document;
    },
  };
}
