import { expect } from 'chai';
import { type EmbedOne, loadE5 } from '../../ai/embedding/e5/model.ts';
import { localE5 } from '../../ai/embedding/e5/name.ts';
import { type ChunkSearch, findChunks } from '../../domain/search/find-chunks.ts';
import { insertDocument, insertWorkspace } from '../support/chunks.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { e5Weights } from '../support/e5-weights.ts';
import { documents, questions } from '../support/worded-questions.ts';

describe('Questions by words, asked by meaning and words together', () => {
  let database: TestDatabase;
  let embed: EmbedOne;
  before(async () => {
    database = await createTestDatabase();
    embed = await loadE5(await e5Weights());
    await insertWorkspace(database.db, 'asked', localE5);
    for (const [number, text] of documents.entries())
      await insertDocument(database.db, { id: `asked-${number}`, workspaceId: 'asked' }, localE5.model, [
        { text, embedding: await embed(text) },
      ]);
  });
  after(() => database.drop());

  async function isRight({ finds }: (typeof questions)[number], search: Omit<ChunkSearch, 'workspaceId' | 'limit'>): Promise<boolean> {
    const found = await database.db.transaction().execute((trx) => findChunks(trx, { workspaceId: 'asked', limit: 1, ...search }));
    const number = found.chunks[0]?.document_id.split('-')[1];
    return finds !== null && (documents[Number(number)]?.includes(finds) ?? false);
  }

  it('find at least what words alone find, misspelt ones and parts of compounds too', async () => {
    let [byWords, byBoth] = [0, 0];
    for (const question of questions) {
      const { query } = question;
      byWords += Number(await isRight(question, { query }));
      byBoth += Number(await isRight(question, { query, embedded: { model: localE5.model, vector: await embed(query) } }));
    }
    expect(byBoth).to.be.at.least(byWords);
  });
});
