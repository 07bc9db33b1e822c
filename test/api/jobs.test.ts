import { expect } from 'chai';
import type { Tenant } from '../support/api.ts';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';

describe('Jobs', () => {
  const { api } = useApi({ env: { WORKER_ENABLED: 'false' } });
  let tenant: Tenant;
  before(async () => {
    tenant = await api.createTenant();
  });

  const call = (operation: string, input: Record<string, unknown> = {}) =>
    callOver(api, 'REST', operation, input, { token: tenant.owner.token });
  const list = async (input: Record<string, unknown> = {}) =>
    (await call('jobs.list', { organizationId: tenant.organizationId, ...input })).body;
  const ids = (page: { items: { id: string }[] }) => page.items.map(({ id }) => id);

  it('of a document wait for its upload', async () => {
    const { workspaceId } = tenant;
    const upload = { workspaceId, name: 'note.txt', contentType: 'text/plain', size: 10 };
    const { document } = (await call('documents.createUpload', upload)).body;
    for (const kind of ['document.extract', 'document.summarize', 'document.index']) {
      const { body } = await call('jobs.create', { kind, documentId: document.id });
      expect(body).to.include({ code: 'PRECONDITION_FAILED', status: 412, defined: true });
    }
  });

  it('take what they are not told from the contract, and their place from the document', async () => {
    const { id: documentId } = await api.upload(tenant, { bytes: 'A text.' });
    const { body } = await call('jobs.create', { kind: 'document.summarize', documentId });
    const { organizationId, workspaceId } = tenant;
    expect(body).to.include({ organizationId, workspaceId, documentId, status: 'queued', attempts: 0, maxAttempts: 4, credits: 5 });
    expect(body.input).to.deep.equal({ documentId, maxSentences: 5 });
    expect((await call('jobs.get', { id: body.id })).body).to.deep.equal(body);
  });

  it('are canceled while they are queued, and retried once they have failed; anything else is CONFLICT', async () => {
    const { organizationId } = tenant;
    const { id } = (await call('jobs.create', { kind: 'text.embed', organizationId, texts: ['one'] })).body;
    expect((await call('jobs.retry', { id })).body).to.include({ code: 'CONFLICT', status: 409, defined: true });
    expect((await call('jobs.cancel', { id })).body).to.include({ id, status: 'canceled', result: null });
    expect((await call('jobs.cancel', { id })).body).to.include({ code: 'CONFLICT', status: 409, defined: true });
    await api.database.db.updateTable('job').set({ status: 'failed', error_code: 'x' }).where('id', '=', id).execute();
    const retried = await call('jobs.retry', { id });
    expect(retried.body).to.include({ status: 'queued', attempts: 0 });
    expect(retried.body.input).to.deep.equal({ texts: ['one'], retryOf: id });
    expect((await call('jobs.get', { id })).body).to.include({ status: 'failed' });
  });

  it('are listed newest first, each once, page by page, also those of one moment', async () => {
    tenant = await api.createTenant();
    const { organizationId } = tenant;
    const created: string[] = [];
    for (let count = 0; count < 5; count++) {
      created.push((await call('jobs.create', { kind: 'text.embed', organizationId, texts: [`${count}`] })).body.id);
    }
    expect(ids(await list())).to.deep.equal([...created].reverse());
    await api.database.db.updateTable('job').set({ created_at: new Date() }).where('organization_id', '=', organizationId).execute();
    const seen: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await list({ limit: 2, ...(cursor ? { cursor } : {}) });
      seen.push(...ids(page));
      cursor = page.nextCursor;
    }
    expect(seen).to.have.length(5);
    expect(new Set(seen)).to.deep.equal(new Set(created));
  });

  it('are narrowed by workspace, document, kind and status, and show results to who asks for them', async () => {
    tenant = await api.createTenant();
    const { organizationId, workspaceId } = tenant;
    const document = await api.upload(tenant, { bytes: 'A text.' });
    const ofDocument = (await call('jobs.create', { kind: 'document.extract', documentId: document.id })).body.id;
    const ofWorkspace = (await call('jobs.create', { kind: 'text.embed', organizationId, workspaceId, texts: ['one'] })).body.id;
    const ofNeither = (await call('jobs.create', { kind: 'text.embed', organizationId, texts: ['two'] })).body.id;
    const result = { model: 'm', dimensions: 1, vectors: [[1]] };
    await api.database.db
      .updateTable('job')
      .set({ status: 'succeeded', result: JSON.stringify(result) })
      .where('id', '=', ofNeither)
      .execute();
    expect(ids(await list({ workspaceId }))).to.have.members([ofDocument, ofWorkspace]);
    expect(ids(await list({ documentId: document.id }))).to.deep.equal([ofDocument]);
    expect(ids(await list({ kind: 'document.extract' }))).to.deep.equal([ofDocument]);
    expect(ids(await list({ kind: 'text.embed', workspaceId }))).to.deep.equal([ofWorkspace]);
    expect(await list({ kind: 'text.translate' })).to.include({ code: 'BAD_REQUEST', defined: true });
    expect(ids(await list({ status: 'succeeded' }))).to.deep.equal([ofNeither]);
    expect(ids(await list({ status: 'failed' }))).to.deep.equal([]);
    expect((await list({ status: 'succeeded' })).items[0]).to.not.have.property('result');
    expect((await list({ status: 'succeeded', includeResult: true })).items[0].result).to.deep.equal(result);
  });

  it('are listed with cursors of their own list only', async () => {
    const { nextCursor } = await list({ limit: 1 });
    tenant = await api.createTenant();
    for (const cursor of [nextCursor, 'made-up']) expect(await list({ cursor })).to.include({ code: 'BAD_REQUEST', defined: true });
  });
});
