import { expect } from 'chai';
import type { KyselyPlugin } from 'kysely';
import { inTransaction } from '../../db/transaction.ts';
import { storeChunks } from '../../domain/chunks/store-chunks.ts';
import { getDocument } from '../../domain/documents/document.ts';
import { stageDocument } from '../../domain/reindex/stage-document.ts';
import { switchWorkspace } from '../../domain/reindex/switch-workspace.ts';
import { type SearchDeps, searchDocuments } from '../../domain/search/search-documents.ts';
import { insertWorkspaceOfChunks } from '../support/chunks.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const old = { model: 'old', dimensions: 2, chunking: '1' };
const target = { model: 'new', dimensions: 3, chunking: '1' };

describe('A search while its workspace is switched to other vectors', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase({ poolSize: 4 });
  });
  after(() => database.drop());

  /** Does something once, between two statements: after the first that reads postings. */
  function afterPostings(work: () => Promise<unknown>): KyselyPlugin {
    let left = 1;
    return {
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        if (result.rows[0] && 'frequency' in result.rows[0] && left-- > 0) await work();
        return result;
      },
    };
  }

  it('finds by words what is there, also if the postings that it has read are gone', async () => {
    const { db } = database;
    await insertWorkspaceOfChunks(db, 'one', []);
    const row = await getDocument(db, 'one');
    await inTransaction(db, async (trx) => {
      await trx
        .insertInto('workspace_index')
        .values({ workspace_id: 'one', ...old })
        .execute();
      await storeChunks(trx, row, old.model, [{ text: 'a text of bees', embedding: [1, 0] }], old);
    });
    const { indexed_at: indexedAt, extracted_at: extractedAt } = await getDocument(db, 'one');
    if (!indexedAt) throw new Error('nothing is indexed');
    const chunks = [{ text: 'a text of bees', embedding: [1, 0, 0] }];
    expect(await stageDocument(db, { documentId: 'one', indexedAt, extractedAt }, { kind: target, chunks })).to.equal(true);

    let switched: unknown;
    const plugin = afterPostings(async () => {
      switched = await switchWorkspace(db, { workspaceId: 'one', target }, () => {});
    });
    const workspace = await db.selectFrom('workspace').selectAll().where('id', '=', 'one').executeTakeFirstOrThrow();
    const deps: SearchDeps = {
      db: db.withPlugin(plugin),
      getPlan: () => Promise.reject(new Error('a search by words costs nothing')),
      isCharged: false,
      embed: () => Promise.reject(new Error('a search by words embeds nothing')),
      signal: new AbortController().signal,
      onUnsettled: () => {},
    };
    const { model, chunks: found } = await searchDocuments(deps, { workspace, index: old, query: 'bees', mode: 'lexical', limit: 10 });
    expect(switched).to.deep.equal({ switched: 1 });
    expect(model).to.equal('bm25');
    expect(found.map(({ text }) => text)).to.deep.equal(['a text of bees']);
  });
});
