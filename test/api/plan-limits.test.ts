import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { callOver, transports } from '../support/transports.ts';
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

  for (const transport of transports) {
    describe(`over ${transport}`, () => {
      const call = (operation: string, input: Record<string, unknown>) =>
        callOver(api, transport, operation, input, { token: tenant.owner.token });

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
  }
});

describe('A search', () => {
  const { api, ai, tenant } = useApi({ ai: true, env: { WORKER_ENABLED: 'false' } });
  afterEach(() => ai.behave('embed'));

  for (const transport of transports) {
    it(`is SERVICE_UNAVAILABLE when its query cannot be embedded, and tells nothing of why, over ${transport}`, async () => {
      const user = await api.signUp();
      await api.addMember(tenant.organizationId, user, 'member');
      for (const behaviour of [
        () => ({ status: 500, body: { error: { code: 'internal', message: 'a secret' } } }),
        () => ({ body: 'no JSON' }),
        () => ({ body: { model: 'fake', dimensions: 2, vectors: [] } }),
        () => ({ body: {}, cut: true }),
      ]) {
        ai.behave('embed', behaviour);
        const { body } = await callOver(api, transport, 'documents.search', { workspaceId: tenant.workspaceId, query: 'mirrors' }, user);
        expect(body).to.deep.equal({
          ...{ defined: true, code: 'SERVICE_UNAVAILABLE', status: 503, message: 'The AI service could not embed the query.' },
        });
      }
    });
  }

  it('may be asked thirty times a minute by a user, over both transports together', async () => {
    const [user, other] = [await api.signUp(), await api.signUp()];
    for (const member of [user, other]) await api.addMember(tenant.organizationId, member, 'member');
    const search = (index: number, { token } = user) =>
      callOver(api, transports[index % 2] ?? 'REST', 'documents.search', { workspaceId: tenant.workspaceId, query: 'mirrors' }, { token });
    for (let index = 0; index < 30; index++) expect((await search(index)).status, `search ${index + 1}`).to.equal(200);
    for (const index of [30, 31]) {
      const { headers, body } = await search(index);
      expect(body).to.deep.equal({
        ...{ defined: true, code: 'TOO_MANY_REQUESTS', status: 429, message: 'Too many searches — try again in a minute.' },
      });
      expect(Number(headers.get('retry-after'))).to.be.within(1, 60);
      expect(headers.get('ratelimit-policy')).to.equal('"searches";q=30;w=60');
    }
    expect((await search(0, other)).status).to.equal(200);
  });
});

function reached(kind: string, limit: number) {
  return {
    ...{ defined: true, code: 'LIMIT_REACHED', status: 403, message: 'This organization has reached a limit of its plan.' },
    data: { kind, limit, plan: 'free', ...(kind === 'aiCredits' && { scope: 'organization' }) },
  };
}
