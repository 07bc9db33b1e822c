import { expect } from 'chai';
import { getDocument } from '../../domain/documents/document.ts';
import { storeChunks } from '../../domain/search/store-chunks.ts';
import type { Tenant } from '../support/api.ts';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';

const modes = ['semantic', 'lexical', 'hybrid'] as const;

describe('The filter of a search', () => {
  const { api, tenant } = useApi({ ai: true, env: { WORKER_ENABLED: 'false', SEARCH_LIMIT_PER_MINUTE: '1000' }, tenant: 'of each test' });

  async function index(
    name: string,
    fields: Record<string, unknown> = {},
    who: Pick<Tenant, 'workspaceId' | 'owner'> = tenant,
  ): Promise<string> {
    const upload = { workspaceId: who.workspaceId, name, contentType: 'text/plain', size: 1, ...fields };
    const { id } = (await api.request('POST', '/api/v1/documents', { token: who.owner.token, body: upload })).body.document;
    const row = await getDocument(api.database.db, id);
    const chunks = ['the mirror', 'another mirror', 'a third mirror'].map((text, n) => ({ text, embedding: [n, 1] }));
    await api.database.db.transaction().execute((trx) => storeChunks(trx, row, { model: 'fake', dimensions: 2, chunking: '1' }, chunks));
    return id;
  }
  const search = (input: Record<string, unknown>) =>
    callOver(
      api,
      'REST',
      'documents.search',
      { workspaceId: tenant.workspaceId, query: 'mirror', limit: 50, ...input },
      { token: tenant.owner.token },
    );
  async function namesOf(input: Record<string, unknown>): Promise<string[]> {
    const { status, body } = await search(input);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.results.map(({ documentName }: { documentName: string }) => documentName).sort();
  }

  for (const mode of modes) {
    it(`leaves what meets all of it, in mode ${mode}`, async () => {
      const one = await index('one', { tags: ['red', 'blue'], metadata: { year: 2026, of: { kind: 'note' } } });
      await index('two', { tags: ['red'], metadata: { year: 2025, done: false }, contentType: 'application/pdf' });
      const theirs = await api.createTenant();
      const other = await index('theirs', { tags: ['red'], metadata: { year: 2026 } }, theirs);
      const finds = async (filter: Record<string, unknown>) => await namesOf({ mode, filter, groupBy: 'document' });
      const soon = new Date(Date.now() + 60_000).toISOString();

      expect(await namesOf({ mode, filter: { tags: ['blue'] } })).to.deep.equal(['one', 'one', 'one']);
      expect(await finds({})).to.deep.equal(['one', 'two']);
      expect(await finds({ tags: ['red'] })).to.deep.equal(['one', 'two']);
      expect(await finds({ tags: ['red', 'blue'] })).to.deep.equal(['one']);
      expect(await finds({ documentIds: [one, other, 'none'] })).to.deep.equal(['one']);
      expect(await finds({ documentIds: [other] })).to.deep.equal([]);
      expect(await finds({ documentIds: ['no id'] }), 'a malformed id').to.deep.equal([]);
      expect(await finds({ contentTypes: ['application/pdf', 'text/csv'] })).to.deep.equal(['two']);
      expect(await finds({ metadata: { year: 2026 } })).to.deep.equal(['one']);
      expect(await finds({ metadata: { year: '2026' } })).to.deep.equal([]);
      expect(await finds({ metadata: { of: { kind: 'note' } } })).to.deep.equal(['one']);
      expect(await finds({ metadata: { done: false }, tags: ['red'] })).to.deep.equal(['two']);
      expect(await finds({ createdFrom: soon })).to.deep.equal([]);
      expect(await finds({ createdTo: soon, indexedFrom: '2026-01-01T00:00:00Z' })).to.deep.equal(['one', 'two']);
      expect(await finds({ indexedTo: '2026-01-01T00:00:00Z' })).to.deep.equal([]);
      expect(await finds({ indexedFrom: '0001-01-01T00:00:00Z', createdFrom: '9999-12-31T23:59:59Z' })).to.deep.equal([]);
    });
  }

  it('is refused with its place where it is wrong', async () => {
    const wrong: [Record<string, unknown>, (string | number)[]][] = [
      [{ filter: { tag: 'red' } }, ['filter']],
      [{ filter: { createdFrom: '0000-01-01T00:00:00Z' } }, ['filter', 'createdFrom']],
      [{ filter: [] }, ['filter']],
      [{ filter: { documentIds: [] } }, ['filter', 'documentIds']],
      [{ filter: { documentIds: Array(201).fill('a') } }, ['filter', 'documentIds']],
      [{ filter: { contentTypes: ['image/gif'] } }, ['filter', 'contentTypes', 0]],
      [{ filter: { tags: ['a'.repeat(65)] } }, ['filter', 'tags', 0]],
      [{ filter: { createdFrom: 'yesterday' } }, ['filter', 'createdFrom']],
      [{ filter: { metadata: {} } }, ['filter', 'metadata']],
      [{ filter: { metadata: { list: [1] } } }, ['filter', 'metadata', 'list']],
      [{ filter: { metadata: { of: {} } } }, ['filter', 'metadata', 'of']],
      [{ filter: { metadata: JSON.parse('{"year":2026,"__proto__":1}') } }, ['filter', 'metadata']],
      [{ filter: { metadata: { text: 'x'.repeat(17_000) } } }, ['filter', 'metadata']],
      [{ groupBy: 'page' }, ['groupBy']],
    ];
    for (const [input, path] of wrong) {
      const { status, body } = await search(input);
      expect([status, body.code, body.defined], JSON.stringify(input).slice(0, 80)).to.deep.equal([400, 'BAD_REQUEST', true]);
      expect(body.data.issues[0].path).to.deep.equal(path);
    }
  });

  it('is what counts when a document is changed', async () => {
    const id = await index('one', { tags: ['old'] });
    const filter = { tags: ['new'] };
    expect(await namesOf({ mode: 'lexical', filter })).to.deep.equal([]);
    await callOver(api, 'REST', 'documents.update', { id, tags: ['new'], name: 'renamed' }, { token: tenant.owner.token });
    expect(await namesOf({ mode: 'lexical', filter, groupBy: 'document' })).to.deep.equal(['renamed']);
  });
});
