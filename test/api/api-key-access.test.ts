import { expect } from 'chai';
import { sql } from 'kysely';
import { hasPermission } from '../../api/auth/permissions.ts';
import { keyPermissions } from '../../contract/access.ts';
import { errorCodes } from '../../contract/errors.ts';
import type { TestUser } from '../support/api.ts';
import { createKey, type KeyOptions, type TestKey } from '../support/api-keys.ts';
import { createJob } from '../support/jobs.ts';
import { expectOk } from '../support/requests.ts';
import { useApi } from '../support/use-api.ts';

/** What is the same at every operation; test/contract/access.test.ts asks each as keys of several kinds. */
describe('An API key', () => {
  const { api, tenant } = useApi({ env: { WORKER_ENABLED: 'false' } });
  const db = () => api.database.db;
  const key = (options?: KeyOptions) => createKey(api, tenant, options);
  const ask = ({ token }: { token: string }, method: string, path: string, body?: object) =>
    api.request(method, `/api/v1${path}`, { token, ...(body && { body }) });
  const byOwner = async (method: string, path: string, body?: object) => (await expectOk(ask(tenant.owner, method, path, body))).body;
  const jobs = (of = tenant.organizationId) => `/organizations/${of}/jobs`;

  async function byAdmin(end: (admin: TestUser) => Promise<unknown>): Promise<TestKey> {
    const admin = await api.signUp();
    await api.addMember(tenant.organizationId, admin, 'admin');
    const made = await key({ by: admin });
    await end(admin);
    return made;
  }
  async function endedBy(end: (made: TestKey) => Promise<unknown>, options?: KeyOptions): Promise<TestKey> {
    const made = await key(options);
    await end(made);
    return made;
  }
  const newWorkspace = (slug: string) => byOwner('POST', '/workspaces', { organizationId: tenant.organizationId, name: slug, slug });

  const ended: Record<string, () => Promise<TestKey>> = {
    'of a member who has left': () => byAdmin(({ id }) => db().deleteFrom('member').where('userId', '=', id).execute()),
    'of a member who is banned': () => byAdmin(({ id }) => db().updateTable('user').set({ banned: true }).where('id', '=', id).execute()),
    'of a member who is gone': () => byAdmin(({ id }) => db().deleteFrom('user').where('id', '=', id).execute()),
    'that has expired': () =>
      endedBy(({ id }) => db().updateTable('api_key').set({ expires_at: sql`now()` }).where('id', '=', id).execute()),
    'that is revoked': () => endedBy(({ id }) => byOwner('DELETE', `/api-keys/${id}`)),
    'from before a rotation without overlap': () => endedBy(({ id }) => byOwner('POST', `/api-keys/${id}/rotate`, { overlapSeconds: 0 })),
    'of a deleted workspace': async () => {
      const { id: workspaceId } = await newWorkspace('gone');
      return endedBy(() => byOwner('DELETE', `/workspaces/${workspaceId}`), { workspaceId });
    },
    'of a deleted organization': async () => {
      const doomed = await api.createTenant();
      const made = await createKey(api, doomed);
      // Nothing drains it here: the key has to end with the request.
      const options = { token: doomed.owner.token, body: { confirmSlug: doomed.slug }, signal: AbortSignal.timeout(2_000) };
      await api.request('DELETE', `/api/v1/organizations/${doomed.organizationId}`, options).catch(() => {});
      return made;
    },
    'that is only the stored hash of one': async () => {
      const { id } = await key();
      const { hash } = await db().selectFrom('api_key').select('hash').where('id', '=', id).executeTakeFirstOrThrow();
      return { id, token: hash };
    },
    'with a character changed': async () => {
      const { id, token } = await key();
      return { id, token: token.replace(/.$/, (last) => (last === 'x' ? 'y' : 'x')) };
    },
  };
  for (const [what, end] of Object.entries(ended))
    it(`${what} is none`, async () => {
      const key = await end();
      const { body } = await ask(key, 'GET', jobs());
      expect(body).to.include({ code: 'UNAUTHORIZED', defined: true });
      expect(body.message.includes('API key'), body.message).to.equal(key.token.startsWith('sheaf_'));
    });

  it('is told what it lacks, and nothing of the rows of others', async () => {
    const other = await api.createTenant();
    const theirs = await ask(await key(), 'GET', jobs(other.organizationId));
    expect([theirs.status, theirs.body.message]).to.deep.equal([403, errorCodes.FORBIDDEN.message]);
    const lacking = await ask(await key({ permissions: ['document:read'] }), 'GET', jobs());
    expect([lacking.status, lacking.body.message]).to.deep.equal([
      403,
      'This needs the permission job:read, which this API key or who is responsible for it does not have.',
    ]);
  });

  it('of one workspace reaches what is in it, and nothing else of its organization', async () => {
    const { workspaceId } = tenant;
    const embed = { kind: 'text.embed', texts: ['one'] };
    const inside = await createJob(api, tenant, { ...embed, workspaceId });
    const outside = await createJob(api, tenant, embed);
    const beside = await newWorkspace('beside');
    const made = await key({ workspaceId });
    const listed = await expectOk(ask(made, 'GET', `/workspaces?organizationId=${tenant.organizationId}`));
    expect(listed.body.map(({ id }: { id: string }) => id)).to.deep.equal([workspaceId]);
    for (const path of [`/jobs/${inside.id}`, `${jobs()}?workspaceId=${workspaceId}`]) await expectOk(ask(made, 'GET', path));
    const { organizationId } = tenant;
    const name =
      ": name that one as workspaceId. What concerns the whole organization needs a key of all workspaces, or a member's session.";
    for (const [method, path, remedy, body] of [
      ['GET', jobs(), name],
      ['GET', `${jobs()}/stream`, name],
      ['POST', '/jobs', name, { ...embed, organizationId }],
      ['POST', jobs(), name, { jobs: [{ ...embed, organizationId }] }],
      ['GET', `${jobs()}?workspaceId=${beside.id}`, ', and this is in another one.'],
      ['GET', `/jobs/${outside.id}`, name],
      ['GET', `/organizations/${organizationId}/usage`, name],
      ['POST', '/workspaces', name, { organizationId, name: 'N', slug: 'new' }],
      ['GET', `/organizations/${organizationId}/api-keys`, name],
    ] as [string, string, string, object?][]) {
      const refused = await ask(made, method, path, body);
      expect(refused.status, path).to.equal(403);
      expect(refused.body.message.replace('jobs[0]: ', ''), path).to.equal(`This API key reaches one workspace only${remedy}`);
    }
  });

  it('learns of itself where it may work, what it may do there now, and when its secret ends', async () => {
    const { organizationId, workspaceId, owner } = tenant;
    const current = async ({ token }: { token: string }) => (await expectOk(ask({ token }, 'GET', '/api-keys/current'))).body;
    const permissions = [...keyPermissions];
    const made = await key({ workspaceId });
    const { expiresAt, ...whole } = await current(made);
    expect(whole).to.deep.equal({ id: made.id, name: 'Test', organizationId, workspaceId, permissions, requestsPerMinute: 600 });
    expect(Date.parse(expiresAt) - Date.now()).to.be.within(89 * 86_400_000, 90 * 86_400_000);
    const demoted = await byAdmin(({ id }) => db().updateTable('member').set({ role: 'member' }).where('userId', '=', id).execute());
    const ofMember = permissions.filter((permission) => hasPermission(['member'], permission));
    expect((await current(demoted)).permissions)
      .to.deep.equal(ofMember)
      .and.to.have.length.below(permissions.length);
    expect((await ask(owner, 'GET', '/api-keys/current')).status).to.equal(403);

    const lasting = await key({ expiresInDays: null });
    const renewed = await byOwner('POST', `/api-keys/${lasting.id}/rotate`, { overlapSeconds: 60 });
    expect((await current(lasting)).expiresAt)
      .to.equal(renewed.overlapEndsAt)
      .and.to.be.a('string');
    expect((await current({ token: renewed.secret })).expiresAt).to.equal(null);
  });
});
