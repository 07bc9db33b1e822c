import { expect } from 'chai';
import { getDocument } from '../../domain/documents/document.ts';
import { stageDocument } from '../../domain/reindex/stage-document.ts';
import { switchWorkspace } from '../../domain/reindex/switch-workspace.ts';
import { searchDocuments } from '../../domain/search/search-documents.ts';
import { readSearchedIndex } from '../../domain/search/searched-index.ts';
import { insertDocument, insertWorkspace } from '../support/chunks.ts';
import { createTestDatabase } from '../support/database.ts';

const old = { model: 'old', dimensions: 2, chunking: '1' };
const target = { model: 'new', dimensions: 3, chunking: '1' };

describe('A search while its workspace is switched to other vectors', () => {
  it('embeds its query again, once, and finds what the new model has indexed', async () => {
    const database = await createTestDatabase({ poolSize: 4 });
    try {
      const { db } = database;
      await insertWorkspace(db, 'one', old);
      await insertDocument(db, { id: 'one', workspaceId: 'one' }, old.model, [{ text: 'a text of bees', embedding: [1, 0] }]);
      const { indexed_at: indexedAt, extracted_at: extractedAt } = await getDocument(db, 'one');
      if (!indexedAt) throw new Error('nothing is indexed');
      const chunks = [{ text: 'a text of bees', embedding: [1, 0, 0] }];
      expect(await stageDocument(db, { documentId: 'one', indexedAt, extractedAt }, { kind: target, chunks })).to.equal(true);

      const asked: unknown[] = [];
      const workspace = await db.selectFrom('workspace').selectAll().where('id', '=', 'one').executeTakeFirstOrThrow();
      const deps = {
        db,
        getPlan: () => Promise.reject(new Error('nobody is charged')),
        isCharged: false,
        async embed(_: string, index: typeof old | undefined) {
          asked.push(index?.model);
          if (asked.length > 1) return { model: target.model, vector: [1, 0, 0] };
          expect(await switchWorkspace(db, { workspaceId: 'one', target }, () => {})).to.deep.equal({ switched: 1 });
          return { model: old.model, vector: [1, 0] };
        },
        signal: new AbortController().signal,
        onUnsettled: () => {},
      };
      const index = await readSearchedIndex(db, 'one');
      for (const mode of ['semantic', 'hybrid'] as const) {
        const { model, chunks: found } = await searchDocuments(deps, { workspace, index, query: 'bees', mode, limit: 10 });
        expect(model).to.equal('new');
        expect(found.map(({ text, score }) => [text, score])).to.deep.equal([['a text of bees', 1]]);
      }
      expect(asked).to.deep.equal(['old', 'new', 'old', 'new']);
    } finally {
      await database.drop();
    }
  });
});
