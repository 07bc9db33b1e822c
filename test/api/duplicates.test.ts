import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { type S3Server, startS3Server } from '../adapters/storage/s3-server.ts';
import { createKey } from '../support/api-keys.ts';
import { expectOk } from '../support/requests.ts';
import { callOver } from '../support/transports.ts';
import { type UsedApi, useApi } from '../support/use-api.ts';

const digestOf = (bytes: string) => createHash('sha256').update(bytes).digest('hex');
const notStored = digestOf('something else');

/** What the tests do, with the tenant of the moment. */
function helpersOf({ api, tenant }: UsedApi) {
  const call = (operation: string, input: Record<string, unknown>, token = tenant.owner.token) =>
    callOver(api, 'REST', operation, input, { token });
  const set = (onDuplicate: string) => expectOk(call('workspaces.update', { id: tenant.workspaceId, onDuplicate }));
  const begin = (bytes: string, fields: Record<string, unknown> = { sha256: digestOf(bytes) }, token?: string) => {
    const file = { workspaceId: tenant.workspaceId, name: 'again.txt', contentType: 'text/plain', size: bytes.length };
    return call('documents.createUpload', { ...file, ...fields }, token);
  };
  /** Begins an upload and sends its bytes. Returns the id of the document. */
  async function send(bytes: string, fields?: Record<string, unknown>): Promise<string> {
    const { document, upload } = (await expectOk(begin(bytes, fields))).body;
    expect((await fetch(upload.url, { method: 'PUT', headers: upload.headers, body: bytes })).status).to.equal(200);
    return document.id;
  }
  const complete = (id: string, token?: string) => call('documents.complete', { id }, token);
  const list = async () =>
    (await expectOk(call('documents.list', { organizationId: tenant.organizationId, workspaceId: tenant.workspaceId }))).body;
  return { call, set, begin, send, complete, list };
}

function expectRefused({ status, body }: { status: number; body: any }, documentId: string | undefined) {
  expect({ status, code: body.code, data: body.data }).to.deep.equal({
    ...{ status: 409, code: 'CONFLICT' },
    data: documentId === undefined ? undefined : { documentId },
  });
}

describe('A content that a workspace has already', () => {
  const used = useApi({ env: { WORKER_ENABLED: 'false' }, tenant: 'of each test' });
  const { api, tenant } = used;
  const readsNothing = () => createKey(api, tenant, { permissions: ['document:create'] });

  it('is told of to who promises it and may read it, and taken again', async () => {
    const { begin, send, complete } = helpersOf(used);
    const { id } = await api.upload(tenant, { name: 'first.txt', bytes: 'A text.' });
    await api.upload(tenant, { name: 'second.txt', bytes: 'A text.' });
    expect((await begin('A text.')).body.duplicateOf).to.deep.equal({ id, name: 'first.txt' });
    const key = await readsNothing();
    for (const answer of [await begin('A text.', {}), await begin('Another text.'), await begin('A text.', undefined, key.token)])
      expect(answer.body).to.have.keys('document', 'upload');
    expect((await complete(await send('A text.'))).body).to.include({ status: 'ready', sha256: digestOf('A text.') });
    const elsewhere = await api.createTenant();
    const other = await begin('A text.', { sha256: digestOf('A text.'), workspaceId: elsewhere.workspaceId }, elsewhere.owner.token);
    expect(other.body).to.have.keys('document', 'upload');
  });

  it('is refused where the workspace says so', async () => {
    const { set, begin, send, complete, list } = helpersOf(used);
    await set('refuse');
    const { id } = await api.upload(tenant, { bytes: 'A text.' });
    expectRefused(await begin('A text.'), id);
    const key = await readsNothing();
    expectRefused(await begin('A text.', undefined, key.token), undefined);
    const unpromised = await send('A text.', {});
    for (let n = 0; n < 2; n++) expectRefused(await complete(unpromised), id);
    expectRefused(await complete(unpromised, key.token), undefined);
    expect((await list()).items.map(({ status }: any) => status)).to.have.members(['ready', 'pending']);
    expect((await complete(await send('Another text.'))).body).to.include({ status: 'ready' });
  });

  it('is answered with its document where the workspace says so', async () => {
    const { call, set, begin, send, complete, list } = helpersOf(used);
    await set('return');
    const { id } = await api.upload(tenant, { name: 'first.txt', bytes: 'A text.' });
    const document = (await call('documents.get', { id })).body;
    const duplicateOf = { id, name: 'first.txt' };
    expect((await begin('A text.')).body).to.deep.equal({ document, duplicateOf });
    const key = await readsNothing();
    expectRefused(await begin('A text.', undefined, key.token), undefined);
    expectRefused(await complete(await send('A text.', {})), id);
    expect((await list()).storage.usedBytes).to.equal(14);
  });

  it('is answered alike to a request that is repeated, whatever has become of it', async () => {
    const { token } = tenant.owner;
    const { set, call } = helpersOf(used);
    await set('return');
    const { id } = await api.upload(tenant, { bytes: 'A text.' });
    const body = { workspaceId: tenant.workspaceId, name: 'a.txt', contentType: 'text/plain', size: 7, sha256: digestOf('A text.') };
    const begin = () => api.request('POST', '/api/v1/documents', { token, body, headers: { 'idempotency-key': 'again' } });
    const first = (await begin()).body;
    expect(first.document.id).to.equal(id);
    await set('allow');
    await expectOk(call('documents.delete', { id }));
    expect((await begin()).body).to.deep.equal(first);
  });

  for (const onDuplicate of ['refuse', 'return'])
    it(`is there once after eight uploads of it at once, where the workspace says ${onDuplicate}`, async () => {
      const { set, send, complete, list } = helpersOf(used);
      await set(onDuplicate);
      const ids = await Promise.all(Array.from({ length: 8 }, (_, n) => send('A text.', n % 2 ? {} : undefined)));
      const answers = await Promise.all(ids.map((id) => complete(id)));
      const [ready, ...more] = answers.filter(({ status }) => status === 200).map(({ body }) => body.id);
      expect(more).to.deep.equal([]);
      for (const answer of answers.filter(({ status }) => status !== 200)) expectRefused(answer, ready);
      expect((await list()).items.filter(({ status }: any) => status === 'ready')).to.have.length(1);
    });

  it('is free again once its document is deleted', async () => {
    const { call, set, send, complete, begin } = helpersOf(used);
    await set('refuse');
    const { id } = await api.upload(tenant, { bytes: 'A text.' });
    await expectOk(call('documents.delete', { id }));
    expect((await begin('A text.')).body).to.have.keys('document', 'upload');
    expect((await complete(await send('A text.'))).status).to.equal(200);
  });

  it('is what a workspace is told about by who may change it, and the audit log has it', async () => {
    const { call, set } = helpersOf(used);
    const { organizationId } = tenant;
    expect((await call('workspaces.list', { organizationId })).body[0].onDuplicate).to.equal('allow');
    expect((await set('refuse')).body.onDuplicate).to.equal('refuse');
    const key = await createKey(api, tenant, { permissions: ['document:create', 'workspace:read'] });
    expect((await call('workspaces.update', { id: tenant.workspaceId, onDuplicate: 'allow' }, key.token)).status).to.equal(403);
    expect((await call('workspaces.update', { id: tenant.workspaceId, onDuplicate: 'ignore' })).status).to.equal(400);
    const { entries } = (await call('organizations.auditLog', { organizationId })).body;
    const changes = entries.filter(({ action }: any) => action === 'workspace.update');
    expect(changes.map(({ metadata }: any) => metadata)).to.deep.equal([{ onDuplicate: { from: 'allow', to: 'refuse' } }]);
  });
});

const stores = { 'the service': undefined, 'a bucket': startS3Server };
for (const [store, start] of Object.entries(stores))
  describe(`A promised digest, with bytes in ${store}`, () => {
    let server: S3Server | undefined;
    const used = useApi({
      tenant: 'of each test',
      async env() {
        server = await start?.();
        return { WORKER_ENABLED: 'false', ...server?.env };
      },
    });
    after(() => server?.close());

    it('is checked when the upload is completed: other bytes stay where they are, and the document waits', async () => {
      const { call, send, complete, list } = helpersOf(used);
      const id = await send('A text.', { sha256: notStored });
      for (let n = 0; n < 2; n++) expect((await complete(id)).body).to.include({ code: 'PRECONDITION_FAILED' });
      expect((await list()).items[0]).to.include({ id, status: 'pending', sha256: digestOf('A text.') });
      await expectOk(call('documents.delete', { id }));
      expect((await list()).storage.usedBytes).to.equal(0);
      const again = await send('A text.');
      expect((await complete(again)).body).to.include({ id: again, status: 'ready', sha256: digestOf('A text.') });
    });

    it('finds what was promised before, and what nobody promised', async () => {
      const { set, send, complete } = helpersOf(used);
      await set('refuse');
      const id = await send('A text.', {});
      expect((await complete(id)).status).to.equal(200);
      const other = await send('A text.', {});
      expectRefused(await complete(other), id);
      for (const digest of ['A', digestOf('A text.').toUpperCase(), `${notStored}0`])
        expect((await helpersOf(used).begin('A text.', { sha256: digest })).status).to.equal(400);
    });
  });
