import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { sql } from 'kysely';
import { inTransaction } from '../../db/transaction.ts';
import { systemActor } from '../../domain/audit.ts';
import { completeUpload } from '../../domain/documents/complete-upload.ts';
import { getDocument } from '../../domain/documents/document.ts';
import { forgetText } from '../../domain/documents/forget-text.ts';
import { sweepLateUploads } from '../../domain/stored-objects/late-uploads.ts';
import { createKey } from '../support/api-keys.ts';
import { aiError, goodAnswer, holdCalls, providerError } from '../support/fake-ai.ts';
import { nightly } from '../support/nightly.ts';
import { until } from '../support/processes.ts';
import { expectOk } from '../support/requests.ts';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';

const digestOf = (bytes: string) => createHash('sha256').update(bytes).digest('hex');
const [first, second] = ['The dome opens to the north.', 'The dome opens to the south, since May.'];

const replacedMessage = 'The text of the document was replaced meanwhile.';

describe('A new version of a document', () => {
  const { api, ai, tenant } = useApi({
    ai: true,
    env: { EXTRA_JOB_KINDS: 'document.process', ASK_LIMIT_PER_MINUTE: '1000' },
    tenant: 'of each test',
  });
  afterEach(() => {
    for (const operation of ['extract', 'embed', 'summarize'] as const) ai.behave(operation);
  });

  const call = (operation: string, input: Record<string, unknown>, token = tenant.owner.token) =>
    callOver(api, 'REST', operation, input, { token });
  const get = async (id: string) => (await expectOk(call('documents.get', { id }))).body;
  const textOf = async (id: string) => (await expectOk(call('documents.text', { id }))).body.text;
  const list = async () =>
    (await expectOk(call('documents.list', { organizationId: tenant.organizationId, workspaceId: tenant.workspaceId }))).body;
  const search = async () =>
    (await expectOk(call('documents.search', { workspaceId: tenant.workspaceId, query: 'dome', mode: 'lexical' }))).body.results;
  const jobsOf = async (documentId: string) =>
    (await expectOk(call('jobs.list', { organizationId: tenant.organizationId, documentId }))).body.items;
  const run = async (kind: string, documentId: string, end = 'succeeded') => {
    const { id } = (await expectOk(call('jobs.create', { kind, documentId }))).body;
    return await api.jobIn(tenant.owner.token, id, [end]);
  };
  const begin = (replaces: string, bytes = second, fields: object = {}, token?: string) => {
    const file = { workspaceId: tenant.workspaceId, name: 'later.md', contentType: 'text/markdown', size: bytes.length };
    return call('documents.createUpload', { ...file, replaces, ...fields }, token);
  };
  async function upload(replaces: string, bytes = second, fields: object = {}): Promise<string> {
    const { document, upload: target } = (await expectOk(begin(replaces, bytes, fields))).body;
    expect((await fetch(target.url, { method: 'PUT', headers: target.headers, body: bytes })).status).to.equal(200);
    expect((await expectOk(call('documents.complete', { id: document.id }))).body).to.include({ replaces, status: 'ready' });
    return document.id;
  }
  /** A version that waits, since nobody could read it at first. */
  async function uploadUnread(replaces: string): Promise<string> {
    ai.behave('extract', () => aiError(422, 'unreadable_document'));
    const id = await upload(replaces);
    await until(async () => (await get(id)).failedJob !== null);
    ai.behave('extract');
    return id;
  }
  /** A job, once its attempt is over. */
  async function attempted(id: string): Promise<any> {
    const job = async () => (await call('jobs.get', { id })).body;
    await until(async () => (await job()).attempts > 0 && (await job()).status !== 'running');
    return await job();
  }
  /** A document with a name and tags that is found by its text. */
  async function original(kind = 'document.index'): Promise<string> {
    const { id } = await api.upload(tenant, { name: 'dome.txt', bytes: first });
    await expectOk(call('documents.update', { id, tags: ['dome'] }));
    await run(kind, id);
    return id;
  }
  const replaced = (id: string, version = 2) => until(async () => (await get(id)).version === version);
  const download = async (id: string) => await (await fetch((await expectOk(call('documents.downloadUrl', { id }))).body.url)).text();

  it('takes the place of the old one in a moment, under the same id, once it is indexed', async () => {
    const id = await original();
    const letGo = holdCalls(ai, 'embed');
    const uploaded = await upload(id);
    await until(async () => ai.calls.some(({ operation, body }) => operation === 'embed' && JSON.stringify(body).includes('south')));
    expect(await get(id)).to.include({ version: 1, contentType: 'text/plain', sha256: digestOf(first) });
    expect(await textOf(id)).to.equal(first);
    expect((await search()).map(({ documentId, text }: any) => [documentId, text])).to.deep.equal([[id, first]]);
    expect((await list()).storage.usedBytes).to.equal(first.length + second.length);
    letGo();
    await replaced(id);
    const now = await get(id);
    expect(now).to.include({
      name: 'dome.txt',
      contentType: 'text/markdown',
      size: second.length,
      sha256: digestOf(second),
      chunkCount: 1,
    });
    expect(now.tags).to.deep.equal(['dome']);
    expect(now).not.to.have.property('replaces');
    expect([await textOf(id), await download(id)]).to.deep.equal([second, second]);
    expect((await search()).map(({ documentId, text }: any) => [documentId, text])).to.deep.equal([[id, second]]);
    expect((await list()).items.map((each: any) => each.id)).to.deep.equal([id]);
    expect((await list()).storage.usedBytes).to.equal(second.length);
    expect((await call('documents.get', { id: uploaded })).status).to.equal(404);
    const jobs = await jobsOf(id);
    expect(jobs.map(({ kind, status }: any) => [kind, status])).to.deep.equal(Array(2).fill(['document.index', 'succeeded']));
    await until(async () => (await api.database.db.selectFrom('object_to_delete').selectAll().execute()).length === 0);
  });

  it('is returned to a completion whose first response was lost', async () => {
    const id = await original();
    const uploaded = await upload(id);
    await replaced(id);
    const complete = (token?: string) => call('documents.complete', { id: uploaded }, token);
    const key = await createKey(api, tenant, { permissions: ['document:create'] });
    for (const token of [tenant.owner.token, key.token])
      expect((await expectOk(complete(token))).body).to.include({ id, version: 2, status: 'ready', sha256: digestOf(second) });
    expect((await complete((await api.createTenant()).owner.token)).body).to.include({ code: 'NOT_FOUND' });
    expect(await jobsOf(id)).to.have.length(2);
    await expectOk(call('documents.delete', { id }));
    expect((await complete()).body).to.include({ code: 'NOT_FOUND' });
  });

  it('is returned to a completion of an upload that was replaced in turn', async () => {
    const id = await original('document.extract');
    const uploads: string[] = [];
    for (const [before, bytes] of ['A second.', 'A third.', 'A fourth.'].entries()) {
      uploads.push(await upload(id, bytes));
      await replaced(id, before + 2);
    }
    const stranger = (await api.createTenant()).owner.token;
    for (const uploaded of uploads) {
      const { body } = await expectOk(call('documents.complete', { id: uploaded }));
      expect(body).to.include({ id, version: 4, status: 'ready', sha256: digestOf('A fourth.') });
      expect((await call('documents.complete', { id: uploaded }, stranger)).body).to.include({ code: 'NOT_FOUND' });
    }
    expect(await jobsOf(id)).to.have.length(4);
    await expectOk(call('documents.delete', { id }));
    for (const uploaded of uploads) expect((await call('documents.complete', { id: uploaded })).body).to.include({ code: 'NOT_FOUND' });
  });

  it('is returned if its content took the place of the old one while a second completion waited for its lock', async () => {
    const id = await original('document.extract');
    const { document, upload: target } = (await expectOk(begin(id))).body;
    await fetch(target.url, { method: 'PUT', headers: target.headers, body: second });
    const { db } = api.database;
    const read = await getDocument(db, document.id);
    await expectOk(call('documents.complete', { id: document.id }));
    await replaced(id);
    const measured = { measuredBytes: second.length, hasKind: () => true, mayRead: true };
    const returned = await inTransaction(db, (trx) => completeUpload(trx, async () => null, systemActor, read, measured));
    expect(returned).to.include({ id, version: 2, size_bytes: second.length });
  });

  it('is listed with what came before', async () => {
    const id = await original('document.extract');
    const createdBy = tenant.owner.id;
    const one = { number: 1, sha256: digestOf(first), size: first.length, createdBy, createdAt: (await get(id)).createdAt };
    const versions = async (limit = 50) => (await expectOk(call('documents.versions', { id, limit }))).body.items;
    expect(await versions()).to.deep.equal([one]);
    await upload(id);
    await replaced(id);
    await upload(id, 'A third.');
    await replaced(id, 3);
    const listed = await versions();
    expect(listed.map(({ createdAt, ...rest }: any) => rest).slice(0, 2)).to.deep.equal([
      { number: 3, sha256: digestOf('A third.'), size: 8, createdBy },
      { number: 2, sha256: digestOf(second), size: second.length, createdBy },
    ]);
    expect(listed[2]).to.deep.equal(one);
    expect(await versions(1)).to.deep.equal(listed.slice(0, 1));
    const { entries } = (await expectOk(call('organizations.auditLog', { organizationId: tenant.organizationId, targetId: id }))).body;
    expect(entries.filter(({ action }: any) => action === 'document.replace').map(({ metadata }: any) => metadata.version)).to.deep.equal([
      3, 2,
    ]);
  });

  it('is quoted by its number', async () => {
    const id = await original();
    const ask = (idempotencyKey: string) =>
      api.request('POST', `/api/v1/workspaces/${tenant.workspaceId}/documents/ask`, {
        token: tenant.owner.token,
        body: { question: 'Where does the dome open?' },
        headers: { 'idempotency-key': idempotencyKey },
      });
    const cited = ({ body }: { body: any }) => body.sentences.map(({ text, citations }: any) => [text, citations[0].version]);
    expect(cited(await ask('before'))).to.deep.equal([[first, 1]]);
    await upload(id);
    await replaced(id);
    expect(cited(await ask('before'))).to.deep.equal([[first, 1]]);
    expect(cited(await ask('after'))).to.deep.equal([[second, 2]]);
  });

  it('leaves the old one as it is when it cannot be read, or is deleted', async () => {
    const id = await original();
    const unreadable = await uploadUnread(id);
    expect(await get(id)).to.include({ version: 1, sha256: digestOf(first), failedJob: null });
    expect((await search()).map(({ text }: any) => text)).to.deep.equal([first]);
    await expectOk(call('documents.delete', { id: unreadable }));
    expect((await list()).storage.usedBytes).to.equal(first.length);
    const orphan = await upload(id, 'A text of its own.', {});
    await expectOk(call('documents.delete', { id: (await get(id)).version === 1 ? id : orphan }));
    await until(async () => (await list()).items.every(({ indexedAt }: any) => indexedAt !== null));
  });

  it('takes the place of the old one by whichever job reads it first', async () => {
    const id = await original('document.extract');
    const uploaded = await uploadUnread(id);
    const { documentId } = await run('document.summarize', uploaded);
    expect(documentId).to.equal(id);
    expect([(await get(id)).version, await textOf(id)]).to.deep.equal([2, second]);
    expect((await call('documents.get', { id: uploaded })).status).to.equal(404);
  });

  nightly('is summarized although it took the place of the old one meanwhile', async () => {
    const id = await original('document.extract');
    const uploaded = await uploadUnread(id);
    const letGo = holdCalls(ai, 'summarize');
    const { id: summary } = (await expectOk(call('jobs.create', { kind: 'document.summarize', documentId: uploaded }))).body;
    await until(async () => ai.callsOf(summary) > 1);
    await run('document.extract', uploaded);
    letGo();
    expect(await attempted(summary)).to.deep.include({
      status: 'queued',
      documentId: id,
      error: { code: 'text_replaced', message: replacedMessage },
    });
    await api.jobIn(tenant.owner.token, summary, ['succeeded'], 30_000);
  });

  it('waits for its chunks if the old one has any, also once a summary was made of it', async () => {
    const id = await original();
    const uploaded = await uploadUnread(id);
    await run('document.summarize', uploaded);
    expect([(await get(id)).version, await textOf(id), await textOf(uploaded)]).to.deep.equal([1, first, second]);
    await run('document.index', uploaded);
    expect([(await get(id)).version, await textOf(id)]).to.deep.equal([2, second]);
  });

  it('is deleted with the one that it was to replace, while it is read, after that failed, and before it was completed', async () => {
    const id = await original();
    const failed = await uploadUnread(id);
    const pending = (await expectOk(begin(id))).body.document.id;
    const letGo = holdCalls(ai, 'embed');
    const beingRead = await upload(id, 'A third.');
    await until(async () => ai.calls.some(({ operation, body }) => operation === 'embed' && JSON.stringify(body).includes('third')));
    const [job] = await jobsOf(beingRead);
    await expectOk(call('documents.delete', { id }));
    letGo();
    for (const uploaded of [failed, pending, beingRead]) {
      expect((await call('documents.get', { id: uploaded })).status).to.equal(404);
      expect((await call('documents.complete', { id: uploaded })).body).to.include({ code: 'NOT_FOUND' });
    }
    expect((await api.jobIn(tenant.owner.token, job.id, ['failed'])).error.code).to.equal('document_missing');
    expect(await list()).to.deep.include({ items: [] });
    expect((await list()).storage.usedBytes).to.equal(0);
    expect(await search()).to.deep.equal([]);
    const { entries } = (await expectOk(call('organizations.auditLog', { organizationId: tenant.organizationId, targetId: failed }))).body;
    expect(entries[0]).to.deep.include({ action: 'document.delete', actorEmail: tenant.owner.email });
    expect(entries[0].metadata).to.include({ replaces: id });
  });

  it('stays if it was completed last, whichever is read first, and what was completed before it is deleted', async () => {
    const id = await original();
    const held = Promise.withResolvers<void>();
    ai.behave('extract', async (asked) => {
      if (String(asked.body) === second) await held.promise;
      return goodAnswer(asked);
    });
    const failed = await uploadUnread(id);
    ai.behave('extract', async (asked) => {
      if (String(asked.body) === second) await held.promise;
      return goodAnswer(asked);
    });
    const begun = (await expectOk(begin(id, 'A fourth.'))).body;
    const earlier = await upload(id, second);
    const [job] = await jobsOf(earlier);
    await upload(id, 'A third.');
    await replaced(id);
    held.resolve();
    for (const uploaded of [failed, earlier]) expect((await call('documents.get', { id: uploaded })).status).to.equal(404);
    expect((await api.jobIn(tenant.owner.token, job.id, ['failed'])).error.code).to.equal('document_missing');
    expect([(await get(id)).version, await textOf(id), await download(id)]).to.deep.equal([2, 'A third.', 'A third.']);
    // What was begun before, but is completed only now, is the newest.
    expect((await fetch(begun.upload.url, { method: 'PUT', headers: begun.upload.headers, body: 'A fourth.' })).status).to.equal(200);
    await expectOk(call('documents.complete', { id: begun.document.id }));
    await replaced(id, 3);
    expect([await textOf(id), await download(id)]).to.deep.equal(['A fourth.', 'A fourth.']);
    expect((await list()).storage.usedBytes).to.equal('A fourth.'.length);
  });

  it('answers for no upload of its content before it took its place, since it may never', async () => {
    const id = await original();
    await expectOk(call('workspaces.update', { id: tenant.workspaceId, onDuplicate: 'return' }));
    const failed = await uploadUnread(id);
    const file = { workspaceId: tenant.workspaceId, name: 'same.md', contentType: 'text/markdown', size: second.length };
    const other = (await expectOk(call('documents.createUpload', { ...file, sha256: digestOf(second) }))).body;
    expect(other).to.have.property('upload');
    expect(other).not.to.have.property('duplicateOf');
    await expectOk(call('documents.delete', { id: other.document.id }));
    await upload(id, second, { sha256: digestOf(second) });
    await replaced(id);
    expect((await call('documents.get', { id: failed })).status).to.equal(404);
  });

  it('is not answered for by the jobs of the content before', async () => {
    const id = await original();
    const process = { kind: 'document.process', documentId: id, once: true };
    const create = async () => (await expectOk(call('jobs.create', process))).body.id;
    const before = await create();
    await api.jobIn(tenant.owner.token, before, ['succeeded']);
    expect(await create()).to.equal(before);
    await upload(id);
    await replaced(id);
    const after = await create();
    expect(after).not.to.equal(before);
    await api.jobIn(tenant.owner.token, after, ['succeeded']);
    expect(await create()).to.equal(after);
  });

  it('is indexed anew, if asked for once, where its text is another than the one that was indexed, or its index is gone', async () => {
    const id = await original();
    const create = async (kind = 'document.index') => (await expectOk(call('jobs.create', { kind, documentId: id, once: true }))).body.id;
    const before = await create();
    await expectOk(call('documents.update', { id, charset: 'windows-1252' }));
    const read = (await run('document.extract', id)).id;
    expect(await create('document.extract')).to.equal(read);
    const after = await create();
    expect(after).not.to.equal(before);
    await api.jobIn(tenant.owner.token, after, ['succeeded']);
    expect(await create()).to.equal(after);
    await inTransaction(api.database.db, async (trx) => forgetText(trx, systemActor, await getDocument(trx, id), {}));
    await run('document.extract', id);
    expect(await create()).not.to.equal(after);
  });

  it('is not answered for by a job of the content before that was done while the upload went on, but by its own', async () => {
    const id = await original();
    const create = async (kind: string) => (await expectOk(call('jobs.create', { kind, documentId: id, once: true }))).body.id;
    const { document, upload: target } = (await expectOk(begin(id))).body;
    const meanwhile = await run('document.process', id);
    expect(await create('document.process')).to.equal(meanwhile.id);
    expect((await fetch(target.url, { method: 'PUT', headers: target.headers, body: second })).status).to.equal(200);
    await expectOk(call('documents.complete', { id: document.id }));
    await replaced(id);
    const [own] = await jobsOf(id);
    expect(await create('document.index')).to.equal(own.id);
    const after = await create('document.process');
    expect(after).not.to.equal(meanwhile.id);
    await api.jobIn(tenant.owner.token, after, ['succeeded']);
    expect(await create('document.process')).to.equal(after);
  });

  it('leaves no summary of the old one to a job that had read that', async () => {
    const id = await original('document.extract');
    const letGo = holdCalls(ai, 'summarize');
    const { id: late } = (await expectOk(call('jobs.create', { kind: 'document.summarize', documentId: id }))).body;
    await until(async () => ai.callsOf(late) > 0);
    await upload(id);
    await replaced(id);
    letGo();
    expect(await attempted(late)).to.deep.include({ status: 'queued', result: null });
  });

  it('is read by an extraction that had to wait while the old bytes went', async () => {
    const id = await original('document.extract');
    ai.behave('extract', (asked) =>
      String(asked.body) === first ? providerError('vision', 'limited', { 'retry-after': '3' }) : goodAnswer(asked),
    );
    const { id: late } = (await expectOk(call('jobs.create', { kind: 'document.extract', documentId: id }))).body;
    await until(async () => ai.callsOf(late) > 0);
    await upload(id);
    await replaced(id);
    const job = async () => (await call('jobs.get', { id: late })).body;
    await until(async () => (await job()).status !== 'running');
    expect(await job()).to.include({ status: 'queued' });
  });

  it('goes on to its summary if it is processed as a whole', async () => {
    const id = await original();
    await expectOk(call('workspaces.update', { id: tenant.workspaceId, autoProcess: ['document.process'] }));
    await upload(id);
    await replaced(id);
    await until(async () => (await jobsOf(id))[0].status === 'succeeded');
    const { body: job } = await call('jobs.get', { id: (await jobsOf(id))[0].id });
    expect(Object.keys(job.result)).to.deep.equal(['extract', 'index', 'summarize']);
    expect(job.documentId).to.equal(id);
  });

  it('does not take the place of what a legal hold keeps, and does so once it is lifted', async () => {
    const id = await original();
    const letGo = holdCalls(ai, 'embed');
    const uploaded = await upload(id);
    const path = `/api/v1/organizations/${tenant.organizationId}/hold`;
    const body = { reason: 'The case of the dome.', workspaceId: tenant.workspaceId };
    await expectOk(api.request('PUT', path, { token: tenant.owner.token, body }));
    letGo();
    await until(async () => (await get(uploaded)).failedJob !== null);
    expect((await get(uploaded)).failedJob.error.code).to.equal('legal_hold');
    expect((await begin(id)).body).to.include({ code: 'LEGAL_HOLD' });
    expect([(await get(id)).version, await download(id)]).to.deep.equal([1, first]);
    await expectOk(api.request('DELETE', `${path}?workspaceId=${tenant.workspaceId}`, { token: tenant.owner.token }));
    await run('document.index', uploaded);
    expect([(await get(id)).version, await download(id)]).to.deep.equal([2, second]);
  });

  it('keeps its bytes, whatever late upload is expected for them', async () => {
    const id = await original('document.extract');
    await upload(id);
    await replaced(id);
    await sql`update late_upload set due_at = now() - interval '1 second'`.execute(api.database.db);
    expect(await api.database.db.selectFrom('late_upload').select('key').execute()).to.have.length.greaterThan(0);
    await sweepLateUploads(api.database.db, 100);
    const { object_key } = await api.database.db.selectFrom('document').select('object_key').where('id', '=', id).executeTakeFirstOrThrow();
    expect(await api.database.db.selectFrom('object_to_delete').select('key').where('key', '=', object_key).execute()).to.deep.equal([]);
    expect(await download(id)).to.equal(second);
  });

  it('is not undone by an extraction that has read the old bytes', async () => {
    const id = await original('document.extract');
    const held = Promise.withResolvers<void>();
    ai.behave('extract', async (asked) => {
      if (String(asked.body) === first) await held.promise;
      return goodAnswer(asked);
    });
    const { id: late } = (await expectOk(call('jobs.create', { kind: 'document.extract', documentId: id }))).body;
    await until(async () => ai.callsOf(late) > 0);
    await upload(id);
    await replaced(id);
    held.resolve();
    await attempted(late);
    expect([await textOf(id), (await get(id)).sha256]).to.deep.equal([second, digestOf(second)]);
  });

  it('is refused for what is not complete, is elsewhere, or replaces another itself, and to keys that may not delete', async () => {
    const id = await original('document.extract');
    const pending = (await expectOk(begin(id))).body.document.id;
    expect((await begin(pending)).body).to.include({ code: 'CONFLICT' });
    const elsewhere = await api.upload(await api.createTenant(), { bytes: 'Another.' });
    for (const replaces of [elsewhere.id, 'no-such-row']) expect((await begin(replaces)).body).to.include({ code: 'NOT_FOUND' });
    const key = await createKey(api, tenant, { permissions: ['document:create', 'document:read'] });
    expect((await begin(id, second, {}, key.token)).body).to.include({ code: 'FORBIDDEN' });
    expect((await begin(id, second, {}, (await createKey(api, tenant)).token)).status).to.equal(200);
  });

  it('answers the document itself if nothing has changed and the workspace answers what is there', async () => {
    const id = await original('document.extract');
    await expectOk(call('workspaces.update', { id: tenant.workspaceId, onDuplicate: 'return' }));
    expect((await begin(id, first, { sha256: digestOf(first) })).body).to.have.nested.property('document.id', id);
    const other = await api.upload(tenant, { bytes: second });
    const refused = (await begin(id, second, { sha256: digestOf(second) })).body;
    expect(refused).to.deep.include({ code: 'CONFLICT', data: { documentId: other.id } });
  });
});
