import { expect } from 'chai';
import { extraContentTypes } from '../../contract/content-types.ts';
import type { Answer, Tenant } from '../support/api.ts';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';

const maxUploadBytes = 2_000;

describe('Documents', () => {
  const { api } = useApi({ env: { WORKER_ENABLED: 'false', MAX_UPLOAD_BYTES: String(maxUploadBytes) } });
  let tenant: Tenant;
  beforeEach(async () => {
    tenant = await api.createTenant();
  });

  const call = (operation: string, input: Record<string, unknown>): Promise<Answer> =>
    callOver(api, 'REST', operation, input, { token: tenant.owner.token });
  const list = async (input: Record<string, unknown> = {}) =>
    (await call('documents.list', { organizationId: tenant.organizationId, workspaceId: tenant.workspaceId, ...input })).body;
  const begin = (fields: Record<string, unknown> = {}) =>
    call('documents.createUpload', {
      workspaceId: tenant.workspaceId,
      name: 'note.txt',
      contentType: 'text/plain',
      size: 10,
      ...fields,
    });
  async function put(
    { url, headers }: { url: string; headers: Record<string, string> },
    body: string | Uint8Array<ArrayBuffer>,
  ): Promise<void> {
    const { status } = await fetch(url, { method: 'PUT', headers, body });
    expect(status).to.equal(200);
  }

  it('are pending at their declared size, then ready at the measured one', async () => {
    const { document, upload } = (await begin()).body;
    expect(document).to.include({ name: 'note.txt', size: 10, status: 'pending', uploadedBy: tenant.owner.id, ...placeOf(tenant) });
    expect(document).to.include({ extracted: null, indexedAt: null, chunkCount: null });
    const inMinutes = (new Date(upload.expiresAt).getTime() - Date.now()) / 60_000;
    expect(inMinutes).to.be.within(59, 60.1);
    expect((await list()).storage.usedBytes).to.equal(10);

    await put(upload, 'Seven b');
    const completed = await call('documents.complete', { id: document.id });
    expect(completed.body).to.include({ id: document.id, size: 7, status: 'ready' });
    expect((await list()).storage.usedBytes).to.equal(7);
    expect((await call('documents.complete', { id: document.id })).body).to.deep.equal(completed.body);
    expect((await call('documents.get', { id: document.id })).body).to.deep.equal(completed.body);
  });

  it('wait for a file that never arrived', async () => {
    const { document } = (await begin()).body;
    const completed = await call('documents.complete', { id: document.id });
    expect(completed.body).to.include({ code: 'PRECONDITION_FAILED', status: 412, defined: true });
    expect((await call('documents.get', { id: document.id })).body).to.include({ status: 'pending', size: 10 });
  });

  it('take no file larger than declared: it is deleted, and the document waits on', async () => {
    const { document, upload } = (await begin()).body;
    await put(upload, 'Eleven byte');
    const completed = await call('documents.complete', { id: document.id });
    expect(completed.body).to.include({ code: 'PAYLOAD_TOO_LARGE', status: 413, defined: true });
    expect(completed.body.data).to.deep.equal({ maxBytes: 10 });
    const again = await call('documents.complete', { id: document.id });
    expect(again.body).to.include({ code: 'PRECONDITION_FAILED' });
    expect((await list()).storage.usedBytes).to.equal(10);
  });

  it('are completed with whatever file is there: what it holds, its extraction finds out', async () => {
    const files: [string, string | Buffer<ArrayBuffer>][] = [
      ['application/pdf', ''],
      ['application/pdf', 'no PDF'],
      ['text/plain', '%PDF-1.7\n'],
      ['image/png', Buffer.from('\xff\xd8\xff\xe0', 'latin1')],
      ['text/csv', 'a,b\n1,\0'],
    ];
    for (const [contentType, body] of files) {
      const { document, upload } = (await begin({ contentType })).body;
      await put(upload, body);
      expect((await call('documents.complete', { id: document.id })).body).to.include({
        status: 'ready',
        size: body.length,
      });
    }
  });

  it('take no declared size beyond the maximum of the deployment, and exactly that', async () => {
    const refused = await begin({ size: maxUploadBytes + 1 });
    expect(refused.body).to.include({ code: 'PAYLOAD_TOO_LARGE', status: 413, defined: true });
    expect(refused.body.data).to.deep.equal({ maxBytes: maxUploadBytes });
    expect((await begin({ size: maxUploadBytes })).status).to.equal(200);
  });

  it('take no type that is not one of theirs', async () => {
    for (const contentType of ['image/gif', 'text/plain; charset=utf-8', 'TEXT/PLAIN', '', ...extraContentTypes]) {
      const { body } = await begin({ contentType });
      expect(body).to.include({ code: 'BAD_REQUEST', status: 400, defined: true });
      expect(body.message).to.match(/^contentType: must be one of application\/pdf, .*EXTRA_CONTENT_TYPES$/);
      expect(body.data.issues).to.deep.equal([{ path: ['contentType'], message: body.message.slice('contentType: '.length) }]);
    }
  });

  it('are downloaded by a link of five minutes once they are ready', async () => {
    const { document, upload } = (await begin({ name: 'Übersicht.txt' })).body;
    const early = await call('documents.downloadUrl', { id: document.id });
    expect(early.body).to.include({ code: 'PRECONDITION_FAILED', status: 412, defined: true });
    await put(upload, 'Ten bytes.');
    await call('documents.complete', { id: document.id });
    const { body } = await call('documents.downloadUrl', { id: document.id });
    expect((new Date(body.expiresAt).getTime() - Date.now()) / 60_000).to.be.within(4, 5.1);
    const download = await fetch(body.url);
    expect(await download.text()).to.equal('Ten bytes.');
    expect(download.headers.get('content-disposition')).to.include("filename*=UTF-8''%C3%9Cbersicht.txt");
  });

  it('are gone once they are deleted, and their bytes are free again', async () => {
    const { id } = await api.upload(tenant, { bytes: 'A text.' });
    const { url } = (await call('documents.downloadUrl', { id })).body;
    expect((await fetch(url)).status).to.equal(200);
    expect((await call('documents.delete', { id })).body).to.deep.equal({ id });
    // Nothing deletes its object here.
    for (const method of ['GET', 'HEAD']) expect((await fetch(url, { method })).status, method).to.equal(404);
    for (const operation of ['documents.get', 'documents.text', 'documents.downloadUrl', 'documents.complete', 'documents.delete']) {
      expect((await call(operation, { id })).body, operation).to.include({ code: 'NOT_FOUND', defined: true });
    }
    expect(await list()).to.deep.equal({ items: [], nextCursor: null, storage: { usedBytes: 0, limitBytes: null } });
  });

  it('are listed newest first, each once, page by page', async () => {
    // In minutes. The ids of two that are of one time decide.
    const ages = { first: 3, second: 1, third: 2, fourth: 2, fifth: 4 };
    const ids: Record<string, string> = {};
    for (const [name, age] of Object.entries(ages)) {
      const { document } = (await begin({ name })).body;
      ids[name] = document.id;
      const created_at = new Date(Date.UTC(2026, 0, 1) - age * 60_000);
      await api.database.db.updateTable('document').set({ created_at }).where('id', '=', document.id).execute();
    }
    const twins = ['third', 'fourth'].sort((one, other) => ((ids[one] ?? '') < (ids[other] ?? '') ? 1 : -1));
    const seen: string[] = [];
    let cursor: string | null | undefined;
    do {
      const place = { organizationId: tenant.organizationId, workspaceId: tenant.workspaceId };
      const { body } = await call('documents.list', { ...place, limit: 2, ...(cursor ? { cursor } : {}) });
      seen.push(...body.items.map(({ name }: { name: string }) => name));
      expect(body.storage).to.deep.equal({ usedBytes: 50, limitBytes: null });
      cursor = body.nextCursor;
    } while (cursor);
    expect(seen).to.deep.equal(['second', ...twins, 'first', 'fifth']);
  });

  it('are listed with cursors of their own list only', async () => {
    const other = await api.createTenant();
    for (let count = 0; count < 2; count++) await begin();
    const { nextCursor } = await list({ limit: 1 });
    expect((await list({ limit: 1, cursor: nextCursor })).items).to.have.length(1);
    tenant = other;
    for (const cursor of [nextCursor, 'made-up', `${nextCursor}x`]) {
      const body = await list({ cursor });
      expect(body, cursor).to.include({ code: 'BAD_REQUEST', defined: true });
      expect(body.data.issues[0].path).to.deep.equal(['cursor']);
    }
  });
});

function placeOf({ organizationId, workspaceId }: Tenant) {
  return { organizationId, workspaceId };
}
