import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';
import { billingOn } from './auth/support/service.ts';

const limits = { PLANS: '{"free":{"workspaces":2,"storageBytes":100,"aiCredits":3},"pro":{"storageBytes":500}}' };

describe('The limits of a plan', () => {
  const env = { ...billingOn, STRIPE_API_BASE: 'http://127.0.0.1:9', WORKER_ENABLED: 'false', ...limits };
  const { api, ai, tenant } = useApi({ ai: true, env, tenant: 'of each test' });
  before(() => {
    ai.provider = 'remote';
  });

  const upload = (size: number) => ({ workspaceId: tenant.workspaceId, name: 'note.txt', contentType: 'text/plain', size });

  const call = (operation: string, input: Record<string, unknown>) =>
    callOver(api, 'REST', operation, input, { token: tenant.owner.token });

  it('bound its workspaces', async () => {
    const { organizationId } = tenant;
    const create = (slug: string) => call('workspaces.create', { organizationId, name: slug, slug });
    expect((await create('second')).status).to.equal(200);
    const refused = await create('third');
    expect(refused.body).to.deep.include(reached('workspaces', 2));
    expect((await call('workspaces.list', { organizationId })).body).to.have.length(2);
  });

  it('bound the bytes of each workspace, those of pending uploads included', async () => {
    expect((await call('documents.createUpload', upload(60))).status).to.equal(200);
    expect((await call('documents.createUpload', upload(41))).body).to.deep.include(reached('storageBytes', 100));
    expect((await call('documents.createUpload', upload(40))).status).to.equal(200);
    const { body } = await call('workspaces.get', { organizationId: tenant.organizationId, slug: 'main' });
    expect(body.storage).to.deep.equal({ usedBytes: 100, limitBytes: 100 });
  });

  it('are asked again when an upload completes, since the plan may have shrunk', async () => {
    await api.database.db
      .insertInto('subscription')
      .values({ id: randomUUID(), plan: 'pro', referenceId: tenant.organizationId, status: 'active' } as never)
      .execute();
    const { document, upload: target } = (await call('documents.createUpload', upload(300))).body;
    await fetch(target.url, { method: 'PUT', headers: target.headers, body: 'a'.repeat(300) });
    await api.database.db.deleteFrom('subscription').where('referenceId', '=', tenant.organizationId).execute();
    const refused = await call('documents.complete', { id: document.id });
    expect(refused.body).to.deep.include(reached('storageBytes', 100));
    expect((await call('documents.get', { id: document.id })).body).to.include({ status: 'pending', size: 300 });
  });

  it('bound the credits of a month, which jobs and searches by a remote model use', async () => {
    const { organizationId, workspaceId } = tenant;
    const embed = () => call('jobs.create', { kind: 'text.embed', organizationId, texts: ['one'] });
    const search = () => call('documents.search', { workspaceId, query: 'mirrors' });
    expect((await embed()).status).to.equal(200);
    expect((await search()).status).to.equal(200);
    const third = await search();
    expect(third.body).to.deep.equal({ model: 'fake', results: [] });
    expect((await search()).body).to.deep.include(reached('aiCredits', 3));
    expect((await embed()).body).to.deep.include(reached('aiCredits', 3));
    const usage = await call('organizations.usage', { organizationId });
    expect(usage.body.usage.aiCredits).to.equal(3);
  });
});

function reached(kind: string, limit: number) {
  return {
    ...{ defined: true, code: 'LIMIT_REACHED', status: 403, message: 'This organization has reached a limit of its plan.' },
    data: { kind, limit, plan: 'free', ...(kind === 'aiCredits' && { scope: 'organization' }) },
  };
}
