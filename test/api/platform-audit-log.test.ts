import { expect } from 'chai';
import { startTestApi, type Tenant, type TestApi, type TestUser } from '../support/api.ts';
import { callOver } from '../support/transports.ts';

interface Entry {
  id: string;
  organizationId: string | null;
  action: string;
}

describe('The audit log of the platform', () => {
  let api: TestApi;
  let admin: TestUser;
  let tenant: Tenant;
  let other: Tenant;

  before(async () => {
    api = await startTestApi({ env: { WORKER_ENABLED: 'false' } });
    [admin, tenant, other] = [await api.signUp('Admin'), await api.createTenant(), await api.createTenant()];
    await api.makePlatformAdmin(admin);
  });
  after(() => api.stop());

  const read = (input: Record<string, unknown> = {}, token = admin.token) => callOver(api, 'REST', 'admin.auditLog', input, { token });
  async function entriesOf(input: Record<string, unknown>): Promise<Entry[]> {
    const { status, body } = await read(input);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.entries;
  }

  it('shows what a platform admin did to a user, and what was done in every organization', async () => {
    const user = await api.signUp();
    const banned = await api.request('POST', '/api/auth/admin/ban-user', {
      token: admin.token,
      body: { userId: user.id, banReason: 'spam' },
    });
    expect(banned.status).to.equal(200);
    const { status, body } = await callOver(api, 'REST', 'admin.auditLog', { targetId: user.id }, admin);
    expect(status).to.equal(200);
    expect(body.nextCursor).to.equal(null);
    expect(body.entries).to.have.length(1);
    expect(body.entries[0]).to.deep.include({
      ...{ organizationId: null, actorId: admin.id, actorEmail: admin.email, impersonatedBy: null },
      ...{ action: 'user.ban', targetType: 'user', targetId: user.id, metadata: { reason: 'spam' } },
    });
    const all: Entry[] = (await callOver(api, 'REST', 'admin.auditLog', { limit: 100 }, admin)).body.entries;
    expect(all.map(({ organizationId }) => organizationId)).to.include.members([null, tenant.organizationId, other.organizationId]);
  });

  it('narrows to an organization, an actor and a target, each alone and all together', async () => {
    const { organizationId, owner } = tenant;
    const ofTenant = await entriesOf({ organizationId });
    expect(ofTenant).to.not.deep.equal([]);
    expect(new Set(ofTenant.map((entry) => entry.organizationId))).to.deep.equal(new Set([organizationId]));
    const byOwner = await entriesOf({ actorId: owner.id });
    expect(byOwner.map(({ id }) => id)).to.have.members(ofTenant.map(({ id }) => id));
    const onWorkspace = { organizationId, actorId: owner.id, targetId: tenant.workspaceId };
    expect((await entriesOf(onWorkspace)).map(({ action }) => action)).to.deep.equal(['workspace.create']);
    expect(await entriesOf({ ...onWorkspace, actorId: other.owner.id })).to.deep.equal([]);
    expect(await entriesOf({ organizationId: 'no-such-organization' })).to.deep.equal([]);
    const key = 'search.rerank';
    await callOver(api, 'REST', 'admin.flags.upsert', { key }, admin);
    expect((await entriesOf({ targetId: key })).map(({ action }) => action)).to.deep.equal(['flag.create']);
  });

  it('pages through every entry once, newest first, also those of one moment, with and without a filter', async () => {
    const rows = Array.from({ length: 25 }, (_, index) => ({
      id: `entry-${String(index).padStart(2, '0')}`,
      organization_id: index % 3 === 0 ? null : index % 3 === 1 ? tenant.organizationId : other.organizationId,
      actor_id: index % 2 ? 'somebody' : null,
      action: 'test.entry',
      created_at: new Date(Date.UTC(2020, 0, 1 + Math.floor(index / 10))),
    }));
    await api.database.db.insertInto('audit_entry').values(rows).execute();
    const ids = async (filter: Record<string, unknown>) => {
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const { body } = await read({ ...filter, limit: 4, ...(cursor ? { cursor } : {}) });
        expect(body.entries.length).to.be.at.most(4);
        seen.push(...body.entries.map(({ id }: Entry) => id));
        cursor = body.nextCursor ?? undefined;
      } while (cursor);
      expect(new Set(seen).size).to.equal(seen.length);
      return seen.filter((id) => id.startsWith('entry-'));
    };
    const newestFirst = rows.toReversed();
    expect(await ids({})).to.deep.equal(newestFirst.map(({ id }) => id));
    expect(await ids({ actorId: 'somebody' })).to.deep.equal(newestFirst.filter((row) => row.actor_id).map(({ id }) => id));
    const { organizationId } = tenant;
    expect(await ids({ organizationId })).to.deep.equal(
      newestFirst.filter((row) => row.organization_id === organizationId).map(({ id }) => id),
    );
  });

  it('refuses cursors that it did not issue, those of an organization’s log included, and what is no filter', async () => {
    const { organizationId, owner } = tenant;
    const foreign = await callOver(api, 'REST', 'organizations.auditLog', { organizationId, limit: 1 }, owner);
    expect(foreign.body.nextCursor).to.be.a('string');
    for (const cursor of ['nonsense', foreign.body.nextCursor]) {
      const refused = await read({ cursor });
      expect(refused.body, cursor).to.include({ status: 400, defined: true, code: 'BAD_REQUEST' });
      expect(refused.body.data.issues[0].path).to.deep.equal(['cursor']);
    }
    const cursor = (await read({ limit: 1 })).body.nextCursor;
    const elsewhere = await callOver(api, 'REST', 'organizations.auditLog', { organizationId, cursor }, owner);
    expect(elsewhere.body).to.include({ status: 400, code: 'BAD_REQUEST' });
    for (const wrong of [{ limit: 0 }, { limit: 101 }]) expect((await read(wrong)).status, JSON.stringify(wrong)).to.equal(400);
  });
});
