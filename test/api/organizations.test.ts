import { expect } from 'chai';
import type { Tenant, TestUser } from '../support/api.ts';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';

describe('Organizations', () => {
  const { api } = useApi({ env: { WORKER_ENABLED: 'false' } });
  let tenant: Tenant;
  let other: Tenant;
  let admin: TestUser;
  let member: TestUser;

  before(async () => {
    [tenant, other, admin, member] = await Promise.all([api.createTenant(), api.createTenant(), api.signUp('Admin'), api.signUp('Member')]);
    await api.makePlatformAdmin(admin);
    await api.addMember(tenant.organizationId, member, 'member');
  });

  describe('usage', () => {
    it('counts workspaces, members, invitations and credits', async () => {
      const own = await api.createTenant();
      const { organizationId, owner } = own;
      const { token } = owner;
      const invite = { organizationId, email: 'guest@example.com', role: 'member' };
      expect((await api.request('POST', '/api/auth/organization/invite-member', { token, body: invite })).status).to.equal(200);
      const late = { organizationId, email: 'late@example.com', role: 'member' };
      const invited = await api.request('POST', '/api/auth/organization/invite-member', { token, body: late });
      await api.database.db
        .updateTable('invitation')
        .set({ expiresAt: new Date(Date.now() - 1_000) })
        .where('id', '=', invited.body.id)
        .execute();
      const gone = { organizationId, email: 'gone@example.com', role: 'member' };
      const withdrawn = await api.request('POST', '/api/auth/organization/invite-member', { token, body: gone });
      const withdrawal = { invitationId: withdrawn.body.id };
      expect((await api.request('POST', '/api/auth/organization/cancel-invitation', { token, body: withdrawal })).status).to.equal(200);
      const job = { kind: 'text.summarize', organizationId, text: 'One. Two. Three.' };
      await callOver(api, 'REST', 'jobs.create', job, { token });
      const canceled = await callOver(api, 'REST', 'jobs.create', job, { token });
      await callOver(api, 'REST', 'jobs.cancel', { id: canceled.body.id }, { token });

      const { status, body } = await callOver(api, 'REST', 'organizations.usage', { organizationId }, { token });
      expect(status).to.equal(200);
      const now = new Date();
      expect(body).to.deep.equal({
        plan: null,
        limits: null,
        usage: { workspaces: 1, members: 1, pendingInvitations: 1, aiCredits: 5 },
        period: {
          start: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1)).toISOString(),
          end: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString(),
        },
      });
    });
  });

  describe('audit log', () => {
    const read = (input: Record<string, unknown>, token = tenant.owner.token) =>
      callOver(api, 'REST', 'organizations.auditLog', { organizationId: tenant.organizationId, ...input }, { token });

    it('pages through every entry once, newest first, also those of one moment', async () => {
      const { organizationId } = tenant;
      const rows = Array.from({ length: 25 }, (_, index) => ({
        id: `entry-${String(index).padStart(2, '0')}`,
        organization_id: organizationId,
        action: 'test.entry',
        created_at: new Date(Date.UTC(2020, 0, 1 + Math.floor(index / 10))),
      }));
      await api.database.db.insertInto('audit_entry').values(rows).execute();
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const { status, body } = await read({ limit: 7, ...(cursor ? { cursor } : {}) });
        expect(status).to.equal(200);
        expect(body.entries.length).to.be.at.most(7);
        seen.push(...body.entries.map(({ id }: { id: string }) => id));
        cursor = body.nextCursor ?? undefined;
      } while (cursor);
      const expected = rows.map(({ id }) => id).reverse();
      expect(seen.slice(-25)).to.deep.equal(expected);
      expect(new Set(seen).size).to.equal(seen.length);
      await api.database.db.deleteFrom('audit_entry').where('action', '=', 'test.entry').execute();
    });

    it('narrows to an actor and to a target, within the organization', async () => {
      const { organizationId, owner } = tenant;
      const all = (await read({ limit: 100 })).body.entries;
      const idsOf = async (input: Record<string, unknown>) => {
        const { status, body } = await read({ limit: 100, ...input });
        expect(status).to.equal(200);
        return body.entries.map(({ id }: { id: string }) => id);
      };
      const ofWorkspace = all.filter(({ targetId }: { targetId: string }) => targetId === tenant.workspaceId);
      expect(ofWorkspace).to.have.length.within(1, all.length - 1);
      expect(await idsOf({ targetId: tenant.workspaceId })).to.deep.equal(ofWorkspace.map(({ id }: { id: string }) => id));
      const byOwner = all.filter(({ actorId }: { actorId: string }) => actorId === owner.id);
      expect(await idsOf({ actorId: owner.id })).to.deep.equal(byOwner.map(({ id }: { id: string }) => id));
      expect(await idsOf({ actorId: other.owner.id })).to.deep.equal([]);
      expect(await idsOf({ actorId: owner.id, targetId: other.workspaceId })).to.deep.equal([]);
      const foreign = await read({ organizationId, actorId: owner.id }, other.owner.token);
      expect([foreign.status, foreign.body.code]).to.deep.equal([403, 'FORBIDDEN']);
    });

    it('refuses cursors that it did not issue: forged, of another list, of another organization', async () => {
      const { organizationId, owner } = other;
      await callOver(api, 'REST', 'workspaces.create', { organizationId, name: 'Two', slug: 'two' }, owner);
      const foreign = await callOver(api, 'REST', 'organizations.auditLog', { organizationId, limit: 1 }, owner);
      for (const cursor of ['nonsense', foreign.body.nextCursor, `${foreign.body.nextCursor}x`]) {
        const refused = await read({ cursor });
        expect(refused.status, cursor).to.equal(400);
        expect(refused.body).to.include({ defined: true, code: 'BAD_REQUEST' });
        expect(refused.body.data.issues[0].path).to.deep.equal(['cursor']);
      }
      for (const limit of [0, 101, 'many', 1.5]) expect((await read({ limit })).status, String(limit)).to.equal(400);
    });
  });

  describe('in the list of a platform admin', () => {
    const list = (input: Record<string, unknown> = {}, token = admin.token) =>
      callOver(api, 'REST', 'admin.organizations.list', input, { token });

    it('show their members, workspaces and no plan while billing is off', async () => {
      const { body } = await list({ search: tenant.slug });
      expect(body.total).to.equal(1);
      const [item] = body.items;
      const members = await api.database.db.selectFrom('member').selectAll().where('organizationId', '=', tenant.organizationId).execute();
      expect(item).to.deep.include({
        id: tenant.organizationId,
        name: tenant.slug,
        slug: tenant.slug,
        billingCustomerId: null,
        members: members.length,
        workspaces: 1,
        plan: null,
        seats: { billed: null, members: members.length },
        subscription: null,
      });
      expect(new Date(item.createdAt).toISOString()).to.equal(item.createdAt);
    });

    it('have no subscription to cancel while billing is off', async () => {
      const { organizationId } = tenant;
      const refused = await callOver(api, 'REST', 'admin.organizations.cancelSubscription', { organizationId }, admin);
      expect(refused.body).to.include({ defined: true, code: 'PRECONDITION_FAILED', status: 412 });
    });

    it('are found by a part of name or slug, whatever the case, and nothing else is a pattern', async () => {
      const { db } = api.database;
      const names = ['Ärger & Söhne 100%', 'ärger under_score', 'Plain'];
      for (const [index, name] of names.entries()) {
        await db
          .insertInto('organization')
          .values({ id: `find-${index}`, name, slug: `find-${index}-slug`, stripeCustomerId: null })
          .execute();
      }
      const found = async (search: string) => (await list({ search })).body.items.map(({ id }: { id: string }) => id).sort();
      expect(await found('ÄRGER')).to.deep.equal(['find-0', 'find-1']);
      expect(await found('100%')).to.deep.equal(['find-0']);
      expect(await found('r_s')).to.deep.equal(['find-1']);
      expect(await found('find-2-SLUG')).to.deep.equal(['find-2']);
      expect(await found('no such thing')).to.deep.equal([]);
      expect((await list({ search: 'x'.repeat(81) })).status).to.equal(400);
    });

    it('are paged by offset, in the order of their names', async () => {
      const all = await list({ limit: 100 });
      const names = all.body.items.map(({ name }: { name: string }) => name.toLowerCase());
      expect(names).to.deep.equal([...names].sort());
      const paged: unknown[] = [];
      for (let offset = 0; offset < all.body.total; offset += 2) {
        const page = await list({ limit: 2, offset });
        expect(page.body.total).to.equal(all.body.total);
        paged.push(...page.body.items);
      }
      expect(paged).to.deep.equal(all.body.items);
      expect((await list({ offset: all.body.total })).body.items).to.deep.equal([]);
      for (const wrong of [{ offset: -1 }, { limit: 0 }, { limit: 101 }]) expect((await list(wrong)).status).to.equal(400);
    });
  });
});
