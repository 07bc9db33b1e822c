import { expect } from 'chai';
import { CompiledQuery, sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { reconcileVectorIndexes } from '../../domain/chunks/reconcile-vector-indexes.ts';
import { searchChunks } from '../../domain/chunks/search-chunks.ts';
import { mostSearchedExactly } from '../../domain/chunks/vector-index.ts';
import { insertWorkspaceOfChunks, makeVectors, makeVectorsAround, type NewChunk } from '../support/chunks.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createPgvectorDatabase } from '../support/pgvector.ts';

const dimensions = 16;
const model = 'a';
const indexOf = (workspaceId: string) => `chunk_embedding_${dimensions}_${workspaceId}`;
const queries = makeVectors(7, 20, dimensions);
const ofModel = (vectors: number[][], name = model): NewChunk[] => vectors.map((vector) => ({ model: name, vector }));

describe('Search with pgvector', () => {
  let plain: TestDatabase;
  let indexed: Db;
  let lastSearch: { text: string; parameters: readonly unknown[] };

  before(async () => {
    plain = await createTestDatabase({ poolSize: 2 });
    indexed = await createPgvectorDatabase((text, parameters) => {
      if (text.includes('document_name')) lastSearch = { text, parameters };
    });
    const some = makeVectors(1, 300, dimensions);
    const zero = new Array(dimensions).fill(0);
    const workspaces: Record<string, NewChunk[]> = {
      // Twice the same, so that scores are equal; and what does not compare: another count of dimensions, another model.
      small: [...ofModel([...some, zero, ...some, ...makeVectors(2, 20, 8)]), ...ofModel(queries, 'b')],
      large: ofModel(makeVectors(3, mostSearchedExactly + 1_000, dimensions)),
      // Nearer to each query than anything else, and more of them than the index looks at at once.
      neighbor: ofModel(queries.flatMap((query, seed) => makeVectorsAround(query, { seed, count: 150, spread: 0.01 }))),
      // The model's vectors had another count of dimensions before.
      mixed: [...ofModel(makeVectors(5, mostSearchedExactly, 2)), ...ofModel(makeVectors(6, 6, dimensions))],
      changing: [...ofModel(makeVectors(4, mostSearchedExactly + 1, dimensions)), ...ofModel(queries, 'b')],
    };
    for (const [id, chunks] of Object.entries(workspaces))
      for (const db of [plain.db, indexed]) await insertWorkspaceOfChunks(db, id, chunks);
    const kept = await reconcileVectorIndexes(indexed);
    if (kept && 'made' in kept) kept.made.sort();
    expect(kept).to.deep.equal({ pgvector: '0.8.7', made: ['changing', 'large', 'mixed'].map(indexOf), dropped: [] });
    await sql`analyze`.execute(indexed);
  });
  after(async () => {
    await plain.drop();
    await indexed.destroy();
  });

  const search = (db: Db, workspaceId: string, vector: number[], limit = 10) => searchChunks(db, { workspaceId, model, vector, limit });

  async function explainLastSearch(): Promise<string> {
    const { rows } = await indexed.executeQuery<{ 'QUERY PLAN': string }>(
      CompiledQuery.raw(`explain ${lastSearch.text}`, [...lastSearch.parameters]),
    );
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  }

  it('finds the same in a small workspace, in the same order, with the same scores', async () => {
    for (const vector of [...queries, new Array(dimensions).fill(0)]) {
      for (const limit of [1, 10, 50, 1_000]) {
        const found = await search(indexed, 'small', vector, limit);
        expect(found).to.have.length(Math.min(limit, 601));
        expect(found).to.deep.equal(await search(plain.db, 'small', vector, limit));
        expect(found).to.deep.equal([...found].sort((one, two) => two.score - one.score || (one.id < two.id ? -1 : 1)));
      }
    }
    expect(await explainLastSearch()).to.not.include('chunk_embedding');
  });

  it('finds nearly all of the nearest in a large workspace, through the index, with the same scores', async () => {
    let right = 0;
    for (const vector of queries) {
      const found = await search(indexed, 'large', vector);
      const nearest = new Map((await search(plain.db, 'large', vector)).map((chunk) => [chunk.id, chunk]));
      expect(found.map(({ score }) => score)).to.deep.equal(found.map(({ score }) => score).sort((a, b) => b - a));
      for (const chunk of found.filter(({ id }) => nearest.has(id))) expect(chunk).to.deep.equal(nearest.get(chunk.id));
      right += found.filter(({ id }) => nearest.has(id)).length;
    }
    expect(right / (10 * queries.length)).to.be.at.least(0.95);
    expect(await explainLastSearch()).to.include(`Index Scan using ${indexOf('large')}`);
  });

  it('never finds what belongs to another workspace or another model, however near it is', async () => {
    for (const workspaceId of ['large', 'changing']) {
      for (const vector of queries) {
        const found = await search(indexed, workspaceId, vector, 50);
        expect(found).to.have.length(50);
        expect(await explainLastSearch()).to.include(indexOf(workspaceId));
        for (const chunk of found) expect(chunk).to.include({ document_id: workspaceId }).and.have.property('score').below(0.9999);
      }
    }
  });

  it('is exact where the index leads to too little', async () => {
    for (const vector of queries.slice(0, 3)) {
      expect(await search(indexed, 'mixed', vector, 6)).to.deep.equal(await search(plain.db, 'mixed', vector, 6));
      expect(await explainLastSearch()).to.include(indexOf('mixed'));
      expect(await search(indexed, 'mixed', vector)).to.deep.equal(await search(plain.db, 'mixed', vector));
      expect(await explainLastSearch()).to.not.include('chunk_embedding');
    }
  });

  it('is exact in a large workspace without its index, and in one that has shrunk', async () => {
    await sql`drop index ${sql.id(indexOf('large'))}`.execute(indexed);
    for (const db of [indexed, plain.db])
      await db.deleteFrom('chunk').where('workspace_id', '=', 'changing').where('index', '<', 2).execute();
    for (const workspaceId of ['large', 'changing']) {
      for (const vector of queries.slice(0, 3)) {
        expect(await search(indexed, workspaceId, vector)).to.deep.equal(await search(plain.db, workspaceId, vector));
        expect(await explainLastSearch()).to.not.include('chunk_embedding');
      }
    }
  });
});
