import { expect } from 'chai';
import { createKey } from '../support/api-keys.ts';
import { expectOk } from '../support/requests.ts';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';
import { billingOn } from './auth/support/service.ts';

describe('The jobs of a workspace that are queued for each upload', () => {
  const { api, tenant } = useApi({
    env: { WORKER_ENABLED: 'false', ...billingOn, STRIPE_API_BASE: 'http://127.0.0.1:9', PLANS: '{"free":{"aiCredits":6}}' },
    check: 'after each test',
    tenant: 'of each test',
  });

  const call = (operation: string, input: Record<string, unknown>, token = tenant.owner.token) =>
    callOver(api, 'REST', operation, input, { token });
  const set = (autoProcess: string[], token?: string) => call('workspaces.update', { id: tenant.workspaceId, autoProcess }, token);

  async function jobsOf(documentId: string) {
    const { db } = api.database;
    return await db
      .selectFrom('job')
      .select(['kind', 'credits', 'created_by'])
      .where('document_id', '=', documentId)
      .orderBy('id')
      .execute();
  }

  it('are none unless they are asked for, and end when it is told so', async () => {
    const { organizationId } = tenant;
    const [main] = (await call('workspaces.list', { organizationId })).body;
    expect(main.autoProcess).to.deep.equal([]);
    expect(await jobsOf((await api.upload(tenant, { bytes: 'Not worked on.' })).id)).to.deep.equal([]);
    const { body: changed } = await expectOk(set(['document.index', 'document.extract', 'document.index']));
    expect(changed.autoProcess).to.deep.equal(['document.index', 'document.extract']);
    const { id } = await api.upload(tenant, { bytes: 'Worked on.' });
    const created_by = tenant.owner.id;
    expect(await jobsOf(id)).to.deep.equal([
      { kind: 'document.index', credits: 2, created_by },
      { kind: 'document.extract', credits: 1, created_by },
    ]);
    await expectOk(call('workspaces.update', { id: main.id, name: 'Renamed' }));
    expect((await call('workspaces.get', { organizationId, slug: 'main' })).body.autoProcess).to.have.length(2);
    await expectOk(set([]));
    expect(await jobsOf((await api.upload(tenant, { bytes: 'Left alone again.' })).id)).to.deep.equal([]);
    const { body: log } = await call('organizations.auditLog', { organizationId });
    const changes = log.entries.filter(({ action }: { action: string }) => action === 'workspace.update');
    expect(changes[0].metadata).to.deep.equal({ autoProcess: { from: ['document.index', 'document.extract'], to: [] } });
  });

  it('are what a client gets who asks for one of them once', async () => {
    await set(['document.index']);
    const { id: documentId } = await api.upload(tenant, { bytes: 'Indexed by itself.' });
    const create = (input: object) => expectOk(call('jobs.create', { documentId, ...input }));
    const indexed = await create({ kind: 'document.index', once: true });
    expect(indexed.body).to.deep.include({ kind: 'document.index', status: 'queued', documentId, input: { documentId }, credits: 2 });
    const both = await Promise.all([1, 2].map(() => create({ kind: 'document.extract', once: true })));
    expect(both[0]?.body.id).to.equal(both[1]?.body.id);
    expect((await jobsOf(documentId)).map(({ kind }) => kind)).to.deep.equal(['document.index', 'document.extract']);
    expect((await create({ kind: 'document.extract' })).body.id).not.to.equal(both[0]?.body.id);
  });

  it('are queued anew for a client who asks for one once, if it was canceled', async () => {
    await set(['document.index']);
    const { id: documentId } = await api.upload(tenant, { bytes: 'Canceled.' });
    const create = async () => (await expectOk(call('jobs.create', { kind: 'document.index', documentId, once: true }))).body.id;
    const first = await create();
    await expectOk(call('jobs.cancel', { id: first }));
    const second = await create();
    expect(second).not.to.equal(first);
    const { organizationId } = tenant;
    const many = { organizationId, jobs: [1, 2].map(() => ({ kind: 'document.index', documentId, once: true })) };
    const { items } = (await expectOk(call('jobs.createMany', many))).body;
    expect(items.map(({ id }: { id: string }) => id)).to.deep.equal([second, second]);
  });

  it('show what they resulted in only to those who may read jobs, also if asked for once', async () => {
    await set(['document.extract']);
    const { id: documentId } = await api.upload(tenant, { bytes: 'Extracted.' });
    const result = { characters: 10, pages: null, truncated: false };
    const ended = { status: 'succeeded' as const, result: JSON.stringify(result), finished_at: new Date() };
    await api.database.db.updateTable('job').set(ended).where('document_id', '=', documentId).execute();
    // A job whose text is gone would not count.
    await api.database.db.updateTable('document').set({ extracted_at: new Date() }).where('id', '=', documentId).execute();
    const job = { kind: 'document.extract', documentId, once: true };
    for (const [permissions, shown] of [
      [['job:create'], null],
      [['job:create', 'job:read'], result],
    ] as const) {
      const { token } = await createKey(api, tenant, { permissions });
      const { body } = await expectOk(call('jobs.create', job, token));
      expect(body).to.deep.include({ status: 'succeeded', documentId, result: shown });
      const many = { organizationId: tenant.organizationId, jobs: [job] };
      expect((await expectOk(call('jobs.createMany', many, token))).body.items).to.deep.equal([body]);
    }
  });

  it('are queued once, however often the upload is completed', async () => {
    await set(['document.index']);
    const body = { workspaceId: tenant.workspaceId, name: 'a.txt', contentType: 'text/plain', size: 5 };
    const { document, upload } = (await expectOk(call('documents.createUpload', body))).body;
    expect((await fetch(upload.url, { method: 'PUT', headers: upload.headers, body: 'Once.' })).status).to.equal(200);
    const answers = await Promise.all(Array.from({ length: 5 }, () => call('documents.complete', { id: document.id })));
    for (const { status, body: completed } of answers) expect([status, completed.status]).to.deep.equal([200, 'ready']);
    expect(await jobsOf(document.id)).to.have.length(1);
  });

  it('are left out if the credits do not suffice, and the upload is ready all the same', async () => {
    await set(['document.summarize', 'document.index', 'document.extract']);
    const { id } = await api.upload(tenant, { bytes: 'Six credits are there.' });
    expect((await jobsOf(id)).map(({ kind }) => kind)).to.deep.equal(['document.summarize', 'document.extract']);
    const second = await api.upload(tenant, { bytes: 'None is left.' });
    expect(await jobsOf(second.id)).to.deep.equal([]);
    expect((await call('documents.get', { id: second.id })).body.status).to.equal('ready');
  });

  it('are set by who may create jobs, when a workspace is made or later, and are charged to who uploads', async () => {
    const { organizationId, workspaceId } = tenant;
    const noJobs = await createKey(api, tenant, { permissions: ['workspace:create', 'workspace:update', 'document:create'] });
    expect((await set(['document.index'], noJobs.token)).body).to.include({ code: 'FORBIDDEN', defined: true });
    const body = { organizationId, name: 'Second', slug: 'second', autoProcess: ['document.index'] };
    expect((await call('workspaces.create', body, noJobs.token)).body).to.include({ code: 'FORBIDDEN', defined: true });
    await expectOk(set([], noJobs.token));
    const withJobs = await createKey(api, tenant, { permissions: ['workspace:update', 'job:create'], workspaceId });
    await expectOk(set(['document.extract'], withJobs.token));
    const second = (await expectOk(call('workspaces.create', body))).body;
    expect(second.autoProcess).to.deep.equal(['document.index']);
    const { id } = await api.upload({ owner: { ...tenant.owner, token: noJobs.token }, workspaceId: second.id }, { bytes: 'By a key.' });
    expect(await jobsOf(id)).to.deep.equal([{ kind: 'document.index', credits: 2, created_by: noJobs.id }]);
  });

  it('are of kinds that work on documents', async () => {
    for (const wrong of [['text.embed'], ['document.read'], 'document.index', Array(4).fill('document.index')])
      expect((await set(wrong as string[])).body, String(wrong)).to.include({ code: 'BAD_REQUEST' });
  });
});
