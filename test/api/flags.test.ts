import { expect } from 'chai';
import type { Tenant, TestUser } from '../support/api.ts';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';

describe('Feature flags', () => {
  const { api } = useApi({ env: { WORKER_ENABLED: 'false' } });
  let admin: TestUser;
  let tenant: Tenant;

  before(async () => {
    [admin, tenant] = await Promise.all([api.signUp('Admin'), api.createTenant()]);
    await api.makePlatformAdmin(admin);
  });
  beforeEach(() => api.database.db.deleteFrom('feature_flag').execute());

  const asAdmin = (operation: string, input: Record<string, unknown> = {}) =>
    callOver(api, 'REST', operation, input, { token: admin.token });
  const entries = () => api.database.db.selectFrom('audit_entry').selectAll().where('action', 'like', 'flag.%').orderBy('id').execute();

  it('are created, overridden, resolved and deleted', async () => {
    const { organizationId } = tenant;
    const call = (operation: string, input: Record<string, unknown>) => callOver(api, 'REST', operation, input, { token: admin.token });
    const created = await call('admin.flags.upsert', { key: 'search.rerank', description: 'Rerank results', enabled: true });
    expect(created.status).to.equal(200);
    expect(created.body).to.deep.include({ key: 'search.rerank', description: 'Rerank results', enabled: true, overrides: [] });

    const overridden = await call('admin.flags.setOverride', { key: 'search.rerank', organizationId, enabled: false });
    expect(overridden.body.overrides).to.deep.equal([{ organizationId, enabled: false }]);
    const resolve = async (input: Record<string, unknown>) =>
      (await callOver(api, 'REST', 'system.flags', input, { token: tenant.owner.token })).body;
    expect(await resolve({ organizationId })).to.deep.equal({ 'search.rerank': false });
    expect(await resolve({})).to.deep.equal({ 'search.rerank': true });

    const removed = await call('admin.flags.setOverride', { key: 'search.rerank', organizationId, enabled: null });
    expect(removed.body.overrides).to.deep.equal([]);
    expect(await resolve({ organizationId })).to.deep.equal({ 'search.rerank': true });

    expect((await call('admin.flags.delete', { key: 'search.rerank' })).body).to.deep.equal({ key: 'search.rerank' });
    expect(await resolve({ organizationId })).to.deep.equal({});
  });

  it('are off and without description when nothing is said, and keep what an upsert does not name', async () => {
    const created = await api.request('PUT', '/api/v1/admin/flags/new-editor', { token: admin.token });
    expect(created.body).to.deep.include({ key: 'new-editor', description: '', enabled: false });
    await asAdmin('admin.flags.upsert', { key: 'new-editor', description: 'The editor' });
    const enabled = await asAdmin('admin.flags.upsert', { key: 'new-editor', enabled: true });
    expect(enabled.body).to.deep.include({ description: 'The editor', enabled: true, createdAt: created.body.createdAt });
    const again = await asAdmin('admin.flags.upsert', { key: 'new-editor', enabled: true });
    expect(again.body).to.deep.equal(enabled.body);
    expect((await asAdmin('admin.flags.list')).body).to.deep.equal([enabled.body]);
  });

  it('are listed by key', async () => {
    for (const key of ['zoom', 'a.b', 'a-b']) await asAdmin('admin.flags.upsert', { key });
    const { body } = await asAdmin('admin.flags.list');
    expect(body.map(({ key }: { key: string }) => key)).to.deep.equal(['a-b', 'a.b', 'zoom']);
  });

  it('are audited: globally without an organization, each override in the log of its organization', async () => {
    const { organizationId, owner } = await api.createTenant();
    const earlier = (await entries()).length;
    await asAdmin('admin.flags.upsert', { key: 'audited', enabled: true });
    await asAdmin('admin.flags.upsert', { key: 'audited', enabled: false });
    await asAdmin('admin.flags.upsert', { key: 'audited', enabled: false });
    await asAdmin('admin.flags.setOverride', { key: 'audited', organizationId, enabled: true });
    await asAdmin('admin.flags.setOverride', { key: 'audited', organizationId, enabled: true });
    await asAdmin('admin.flags.delete', { key: 'audited' });
    const written = (await entries()).slice(earlier);
    expect(written.map((entry) => [entry.action, entry.organization_id, entry.metadata])).to.deep.equal([
      ['flag.create', null, { description: '', enabled: true }],
      ['flag.update', null, { enabled: { from: true, to: false } }],
      ['flag.override', organizationId, { from: null, to: true }],
      ['flag.delete', null, { description: '', enabled: false, overrides: 1 }],
      ['flag.override', organizationId, { from: true, to: null }],
    ]);
    for (const entry of written) {
      expect(entry).to.deep.include({ actor_id: admin.id, actor_email: admin.email, target_type: 'flag', target_id: 'audited' });
    }
    const log = await callOver(api, 'REST', 'organizations.auditLog', { organizationId }, { token: owner.token });
    const actions = log.body.entries.map(({ action }: { action: string }) => action);
    expect(actions.filter((action: string) => action.startsWith('flag.'))).to.deep.equal(['flag.override', 'flag.override']);
  });

  it('are written once when two admins create the same key at once', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => asAdmin('admin.flags.upsert', { key: 'race', enabled: true })));
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(8).fill(200));
    const created = (await entries()).filter(({ action, target_id }) => action === 'flag.create' && target_id === 'race');
    expect(created).to.have.length(1);
  });
});
