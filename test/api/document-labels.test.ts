import { expect } from 'chai';
import type { Answer, Tenant } from '../support/api.ts';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';

/** As deep as metadata may be, and one level more. */
const deepest = { a: { b: { c: { d: { e: 1 } } } } };
const tooDeep = { a: { b: { c: { d: { e: {} } } } } };

describe('What documents are labeled with', () => {
  const { api } = useApi({ env: { WORKER_ENABLED: 'false' } });
  let tenant: Tenant;
  beforeEach(async () => {
    tenant = await api.createTenant();
  });

  const call = (operation: string, input: Record<string, unknown>, who = tenant): Promise<Answer> =>
    callOver(api, 'REST', operation, input, { token: who.owner.token });
  const begin = (fields: Record<string, unknown> = {}, who = tenant) =>
    call('documents.createUpload', { workspaceId: who.workspaceId, name: 'a.txt', contentType: 'text/plain', size: 1, ...fields }, who);
  async function create(fields: Record<string, unknown>, who = tenant): Promise<any> {
    const { status, body } = await begin(fields, who);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.document;
  }
  const list = async (filter: Record<string, unknown>, who = tenant) =>
    call('documents.list', { organizationId: who.organizationId, workspaceId: who.workspaceId, ...filter }, who);
  const namesOf = async (filter: Record<string, unknown>): Promise<string[]> =>
    (await list(filter)).body.items.map(({ name }: { name: string }) => name);

  it('is nothing unless they are given some', async () => {
    const { document } = (await begin({})).body;
    expect(document).to.deep.include({ tags: [], metadata: {} });
    const given = { tags: ['one', 'two', 'one'], metadata: { z: [1, null], a: { large: 1e300, text: 'ü😀' } } };
    const { document: labeled } = (await begin(given)).body;
    expect(labeled).to.deep.include({ tags: ['one', 'two'], metadata: given.metadata });
    expect((await call('documents.get', { id: labeled.id })).body).to.deep.equal(labeled);
    expect(Object.keys(labeled.metadata)).to.deep.equal(['z', 'a']);
  });

  it('changes with them, and only what is given', async () => {
    const document = await create({ tags: ['old'], metadata: { old: true } });
    const update = async (change: object) => (await call('documents.update', { id: document.id, ...change })).body;
    expect(await update({})).to.deep.equal(document);
    const renamed = await update({ name: 'b.txt' });
    expect(renamed).to.deep.equal({ ...document, name: 'b.txt', updatedAt: renamed.updatedAt });
    expect(Date.parse(renamed.updatedAt)).to.be.at.least(Date.parse(document.updatedAt));
    expect(await update({ tags: ['new'] })).to.deep.include({ name: 'b.txt', tags: ['new'], metadata: { old: true } });
    expect(await update({ metadata: { new: 1 } })).to.deep.include({ name: 'b.txt', tags: ['new'], metadata: { new: 1 } });
    expect(await update({ charset: 'gbk' })).to.deep.include({ charset: 'gbk', name: 'b.txt', tags: ['new'] });
    expect(await update({ name: 'b.txt' })).to.deep.include({ charset: 'gbk' });
    expect(await update({ charset: null })).to.deep.include({ charset: null });
    expect(await namesOf({ tag: 'new' })).to.deep.equal(['b.txt']);
    expect(await namesOf({ tag: 'old' })).to.deep.equal([]);
    expect(await update({ tags: [], metadata: {} })).to.deep.include({ tags: [], metadata: {} });
    expect(await namesOf({ tag: 'new' })).to.deep.equal([]);
    expect(await call('documents.get', { id: document.id })).to.have.nested.property('body.name', 'b.txt');
  });

  it('is refused with its place where it is wrong', async () => {
    const document = await create({});
    const wrong: [Record<string, unknown>, (string | number)[], reason?: string][] = [
      [{ tags: Array.from({ length: 51 }, (_, n) => `t${n}`) }, ['tags']],
      [{ tags: ['a', ''] }, ['tags', 1]],
      [{ tags: ['a'.repeat(65)] }, ['tags', 0]],
      [{ tags: ['two\nlines'] }, ['tags', 0], 'control_characters'],
      [{ tags: 'a' }, ['tags']],
      [{ metadata: { a: 'x'.repeat(16 * 1024) } }, ['metadata']],
      [{ metadata: tooDeep }, ['metadata', 'a', 'b', 'c', 'd', 'e']],
      [{ metadata: { list: [[[[[]]]]] } }, ['metadata', 'list', 0, 0, 0, 0]],
      [{ metadata: { nul: '\u0000' } }, ['metadata', 'nul'], 'control_characters'],
      [{ metadata: { '\u0000': 1 } }, ['metadata'], 'control_characters'],
      [{ metadata: JSON.parse('{"a":1,"__proto__":{"b":2}}') }, ['metadata']],
      [{ metadata: JSON.parse('{"a":[{"__proto__":null}]}') }, ['metadata', 'a', 0]],
      [{ metadata: [] }, ['metadata']],
      [{ metadata: 'text' }, ['metadata']],
      [{ metadata: null }, ['metadata']],
      [{ charset: 'martian' }, ['charset']],
      [{ name: '' }, ['name']],
    ];
    for (const [fields, path, reason] of wrong) {
      for (const { status, body } of [await begin(fields), await call('documents.update', { id: document.id, ...fields })]) {
        expect([status, body.code, body.defined], JSON.stringify(fields).slice(0, 100)).to.deep.equal([400, 'BAD_REQUEST', true]);
        expect(body.data.issues[0]).to.deep.include({ path, ...(reason ? { params: { reason } } : {}) });
      }
    }
    expect((await call('documents.get', { id: document.id })).body).to.deep.equal(document);
  });

  it('is taken on each of its bounds', async () => {
    const tags = Array.from({ length: 50 }, (_, n) => '😀'.repeat(62) + (n + 10));
    const full = { text: 'x'.repeat(16 * 1024 - '{"text":""}'.length) };
    for (const metadata of [full, deepest, JSON.parse('{"":{},"constructor":1,"1":[[[]]]}')]) {
      const { document } = (await begin({ tags, metadata })).body;
      expect(document).to.deep.include({ tags, metadata });
    }
    expect(await namesOf({ tag: tags.slice(0, 3) })).to.have.length(3);
  });

  it('finds documents in a list', async () => {
    await create({ name: 'one', tags: ['red', 'Blue'] });
    await create({ name: 'two', tags: ['red'], contentType: 'application/pdf' });
    await create({ name: 'three', contentType: 'application/pdf' });
    await create({ name: 'theirs', tags: ['red'] }, await api.createTenant());
    const { id } = await api.upload(tenant, { bytes: 'A text.' });
    await call('documents.update', { id, name: 'ready', tags: ['red'] });

    expect(await namesOf({})).to.deep.equal(['ready', 'three', 'two', 'one']);
    expect(await namesOf({ tag: 'red' })).to.deep.equal(['ready', 'two', 'one']);
    expect(await namesOf({ tag: ['red', 'Blue'] })).to.deep.equal(['one']);
    expect(await namesOf({ tag: 'blue' })).to.deep.equal([]);
    expect(await namesOf({ contentType: 'application/pdf' })).to.deep.equal(['three', 'two']);
    expect(await namesOf({ contentType: 'application/pdf', tag: 'red', status: 'pending' })).to.deep.equal(['two']);
    expect(await namesOf({ status: 'ready' })).to.deep.equal(['ready']);
    const first = (await list({ tag: 'red', limit: 2 })).body;
    expect(first.storage).to.deep.equal((await list({})).body.storage);
    expect(await namesOf({ tag: 'red', limit: 2, cursor: first.nextCursor })).to.deep.equal(['one']);
    for (const wrong of [{ tag: '' }, { tag: 'a'.repeat(65) }, { contentType: 'image/gif' }, { status: 'gone' }]) {
      const { body } = await list(wrong);
      expect(body, JSON.stringify(wrong)).to.include({ code: 'BAD_REQUEST', defined: true });
      expect(body.data.issues[0].path).to.deep.equal(Object.keys(wrong));
    }
  });

  it('is no JSON if a program sends what only it knows', async () => {
    const place = { workspaceId: tenant.workspaceId, name: 'a.txt', contentType: 'text/plain', size: 1 };
    const json = { ...place, metadata: { at: '2026-01-01T00:00:00.000Z' } };
    const { body } = await api.request('POST', '/rpc/documents/createUpload', {
      token: tenant.owner.token,
      body: { json, meta: [[1, 'metadata', 'at']] },
    });
    expect(body.json).to.include({ code: 'BAD_REQUEST' });
    expect(body.json.data.issues[0]).to.deep.equal({ path: ['metadata', 'at'], message: 'must be JSON' });
  });

  it('ends a page of a list at 4 MiB', async () => {
    const metadata = { text: 'x'.repeat(16_000) };
    const { id } = await create({ metadata });
    const { db } = api.database;
    const row = await db.selectFrom('document').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    const copies = Array.from({ length: 199 }, (_, n) => ({
      ...row,
      id: `${id}-${n}`,
      object_key: `${id}-${n}`,
      metadata: JSON.stringify(metadata),
      extracted_notices: null,
      label_bytes: row.label_bytes * 2,
    }));
    await db.insertInto('document').values(copies).execute();
    const { items, nextCursor } = (await list({ limit: 200 })).body;
    expect(items.length).to.be.within(100, 150);
    expect((await list({ limit: 200, cursor: nextCursor })).body.items.length + items.length).to.equal(200);
  });

  it('stands in the audit log when it changes, but not what the metadata says', async () => {
    const document = await create({ tags: ['old'] });
    await call('documents.update', { id: document.id, name: 'b.txt', charset: 'gbk', tags: ['new'], metadata: { secret: 'x' } });
    await call('documents.update', { id: document.id, name: 'b.txt', charset: 'gbk' });
    const { entries } = (await call('organizations.auditLog', { organizationId: tenant.organizationId })).body;
    const [entry, ...others] = entries.filter(({ action }: { action: string }) => action === 'document.update');
    expect(others).to.deep.equal([]);
    expect(entry.metadata).to.deep.equal({
      workspaceId: tenant.workspaceId,
      name: { from: 'a.txt', to: 'b.txt' },
      charset: { from: null, to: 'gbk' },
      tags: { from: ['old'], to: ['new'] },
      metadata: { fields: ['secret'], changed: 1 },
    });
  });

  it('is what it was when a request with an Idempotency-Key is repeated, also one that was answered before there were labels', async () => {
    const request = () =>
      callOver(
        api,
        'REST',
        'documents.createUpload',
        { workspaceId: tenant.workspaceId, name: 'a.txt', contentType: 'text/plain', size: 1 },
        { token: tenant.owner.token, headers: { 'idempotency-key': `labels-${tenant.organizationId}` } },
      );
    const first = (await request()).body.document;
    const { db } = api.database;
    const { response } = await db
      .selectFrom('idempotency_key')
      .select('response')
      .where('user_id', '=', tenant.owner.id)
      .executeTakeFirstOrThrow();
    const { tags: _tags, metadata: _metadata, charset: _charset, ...before } = response as Record<string, unknown>;
    await db
      .updateTable('idempotency_key')
      .set({ response: JSON.stringify(before) })
      .where('user_id', '=', tenant.owner.id)
      .execute();
    expect((await request()).body.document).to.deep.equal(first);
  });
});
