import { expect } from 'chai';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';

// Each limit is far below what the tests use.
const limits = { PLANS: '{"free":{"workspaces":1,"members":1,"aiCredits":1,"storageBytes":10}}' };

describe('With billing off, nothing is limited:', () => {
  const { api, ai, tenant } = useApi({ ai: true, env: { ...limits, WORKER_ENABLED: 'false' }, tenant: 'of each test' });
  before(() => {
    ai.provider = 'remote';
  });

  const call = (operation: string, input: Record<string, unknown>) =>
    callOver(api, 'REST', operation, input, { token: tenant.owner.token });

  it('workspaces', async () => {
    const { organizationId } = tenant;
    for (const slug of ['two', 'three', 'four']) {
      expect((await call('workspaces.create', { organizationId, name: slug, slug })).status).to.equal(200);
    }
  });

  it('stored bytes', async () => {
    const upload = { workspaceId: tenant.workspaceId, name: 'note.txt', contentType: 'text/plain', size: 5_000 };
    expect((await call('documents.createUpload', upload)).status).to.equal(200);
    expect((await call('documents.createUpload', upload)).status).to.equal(200);
    const { body } = await call('workspaces.get', { organizationId: tenant.organizationId, slug: 'main' });
    expect(body.storage).to.deep.equal({ usedBytes: 10_000, limitBytes: null });
  });

  it('credits, which are counted all the same', async () => {
    const { organizationId, workspaceId } = tenant;
    const embed = { kind: 'text.embed', organizationId, texts: ['one'] };
    for (let n = 0; n < 3; n++) expect((await call('jobs.create', embed)).status).to.equal(200);
    expect((await call('documents.search', { workspaceId, query: 'mirrors' })).status).to.equal(200);
    const { body } = await call('organizations.usage', { organizationId });
    expect(body).to.deep.include({ plan: null, limits: null });
    expect(body.usage.aiCredits).to.equal(4);
  });

  it('members', async () => {
    const { organizationId, owner } = tenant;
    for (let n = 0; n < 3; n++) {
      const guest = await api.signUp();
      const invite = { organizationId, email: guest.email, role: 'member' };
      const invited = await api.request('POST', '/api/auth/organization/invite-member', { token: owner.token, body: invite });
      const accept = { token: guest.token, body: { invitationId: invited.body.id } };
      expect((await api.request('POST', '/api/auth/organization/accept-invitation', accept)).status).to.equal(200);
    }
    const { body } = await call('billing.status', { organizationId });
    expect(body).to.deep.equal({ enabled: false, plan: null, limits: null, subscription: null, paymentFailed: false, overLimit: [] });
  });

  it('also of an organization whose subscription is left from before', async () => {
    const { organizationId, owner } = tenant;
    const row = { id: organizationId, plan: 'pro', referenceId: organizationId, status: 'unpaid' };
    await api.database.db
      .insertInto('subscription')
      .values(row as never)
      .execute();
    const create = { organizationId, name: 'Two', slug: 'two' };
    expect((await callOver(api, 'REST', 'workspaces.create', create, { token: owner.token })).status).to.equal(200);
  });

  it('and nothing is sold', async () => {
    const { owner, organizationId } = tenant;
    for (const path of ['upgrade', 'cancel', 'restore', 'billing-portal']) {
      const body = { plan: 'pro', referenceId: organizationId, returnUrl: '/' };
      expect((await api.request('POST', `/api/auth/subscription/${path}`, { token: owner.token, body })).status).to.equal(404);
    }
  });
});
