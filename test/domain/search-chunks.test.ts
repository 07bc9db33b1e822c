import { expect } from 'chai';
import { CompiledQuery, sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { quantizeDocuments } from '../../domain/chunks/quantize-documents.ts';
import { reconcileVectorIndexes } from '../../domain/chunks/reconcile-vector-indexes.ts';
import { type FoundChunk, searchChunks } from '../../domain/chunks/search-chunks.ts';
import { storeChunks } from '../../domain/chunks/store-chunks.ts';
import { getDocument } from '../../domain/documents/document.ts';
import { insertWorkspaceOfChunks, makeVectors, makeVectorsAround, type NewChunk } from '../support/chunks.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createPgvectorDatabase } from '../support/pgvector.ts';

const dimensions = 16;
/** A workspace of more chunks gets an index here. */
const largerThan = 1_500;
const model = 'a';
const indexOf = (workspaceId: string) => `chunk_embedding_${dimensions}_${workspaceId}`;
const queries = makeVectors(7, 20, dimensions);
const zero = new Array(dimensions).fill(0);
const some = makeVectors(1, 300, dimensions);
const ofModel = (vectors: number[][], name = model): NewChunk[] => vectors.map((vector) => ({ model: name, vector }));

const workspaces: Record<string, NewChunk[]> = {
  // Twice the same, so that scores are equal; and what does not compare: another count of dimensions, another model.
  small: [...ofModel([...some, zero, ...some, ...makeVectors(2, 20, 8)]), ...ofModel(queries, 'b')],
  large: ofModel(makeVectors(3, 3_000, dimensions)),
  // Nearer to each query than anything else, and more of them than the index looks at at once.
  neighbor: ofModel(queries.flatMap((query, seed) => makeVectorsAround(query, { seed, count: 70, spread: 0.01 }))),
  // The model's vectors had another count of dimensions before.
  mixed: [...ofModel(makeVectors(5, largerThan, 2)), ...ofModel(makeVectors(6, 6, dimensions))],
  changing: [
    ...ofModel(makeVectors(4, largerThan + 1, dimensions)),
    ...ofModel(queries, 'b'),
    // More than are looked at to find fifty.
    ...ofModel(
      queries.slice(0, 2).flatMap((query, seed) => makeVectorsAround(query, { seed, count: 180, spread: 0.01 })),
      'b',
    ),
  ],
};

describe('Search', () => {
  /** Three databases that hold the same, each with a way of its own: scores of every chunk, quantized vectors, pgvector. */
  let exactly: TestDatabase;
  let quantized: TestDatabase;
  let indexed: Db;
  let lastCandidates: { text: string; parameters: readonly unknown[] };

  before(async () => {
    [exactly, quantized] = [await createTestDatabase({ poolSize: 2 }), await createTestDatabase({ poolSize: 2 })];
    indexed = await createPgvectorDatabase((text, parameters) => {
      if (text.trimStart().startsWith('select document_id as')) lastCandidates = { text, parameters };
    });
    for (const [id, chunks] of Object.entries(workspaces))
      for (const db of [exactly.db, quantized.db, indexed]) await insertWorkspaceOfChunks(db, id, chunks);
    for (const db of [quantized.db, indexed]) expect(await quantizeDocuments(db)).to.equal(Object.keys(workspaces).length);
    const kept = await reconcileVectorIndexes(indexed, largerThan);
    if (kept && 'made' in kept) kept.made.sort();
    expect(kept).to.deep.equal({ pgvector: '0.8.7', made: ['changing', 'large', 'mixed'].map(indexOf), dropped: [] });
    for (const db of [exactly.db, quantized.db, indexed]) await sql`analyze`.execute(db);
  });
  after(async () => {
    await exactly.drop();
    await quantized.drop();
    await indexed.destroy();
  });

  const search = (db: Db, workspaceId: string, vector: number[], limit = 10) => searchChunks(db, { workspaceId, model, vector, limit });
  const isOrdered = (found: FoundChunk[]) =>
    expect(found).to.deep.equal([...found].sort((one, two) => two.score - one.score || (one.id < two.id ? -1 : 1)));

  async function explainLastSearch(): Promise<string> {
    const { rows } = await indexed.executeQuery<{ 'QUERY PLAN': string }>(
      CompiledQuery.raw(`explain ${lastCandidates.text}`, [...lastCandidates.parameters]),
    );
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  }

  it('finds the same each way in a small workspace, in the same order, with the same scores', async () => {
    for (const vector of [...queries.slice(0, 5), zero]) {
      for (const limit of [1, 10, 50, 1_000]) {
        const found = await search(exactly.db, 'small', vector, limit);
        expect(found).to.have.length(Math.min(limit, 601));
        isOrdered(found);
        for (const db of [quantized.db, indexed]) expect(await search(db, 'small', vector, limit)).to.deep.equal(found);
      }
    }
    expect(await explainLastSearch()).to.not.include('chunk_embedding');
  });

  it('scores by the cosine of vectors of any length', async () => {
    const [query = []] = queries;
    const cosines = (workspaces.small ?? [])
      .filter((chunk) => chunk.model === model && chunk.vector.length === dimensions)
      .map(({ vector }) => {
        const sum = (products: number[]) => products.reduce((total, value) => total + value, 0);
        const lengths = Math.hypot(...query) * Math.hypot(...vector);
        return lengths === 0 ? 0 : sum(vector.map((value, i) => value * (query[i] ?? 0))) / lengths;
      })
      .sort((a, b) => b - a);
    for (const db of [exactly.db, quantized.db, indexed]) {
      const longer = query.map((value) => value * 1e20);
      const scores = (await search(db, 'small', longer, 50)).map(({ score }) => score);
      for (const [i, score] of scores.entries()) expect(score).to.be.closeTo(cosines[i] ?? 0, 1e-6);
    }
  });

  for (const [way, db] of [
    ['by quantized vectors', () => quantized.db],
    ['through an index', () => indexed],
  ] as const) {
    it(`finds nearly all of the nearest in a large workspace ${way}, with the same scores`, async () => {
      let right = 0;
      for (const vector of queries) {
        const found = await search(db(), 'large', vector);
        const nearest = new Map((await search(exactly.db, 'large', vector)).map((chunk) => [chunk.id, chunk]));
        isOrdered(found);
        for (const chunk of found.filter(({ id }) => nearest.has(id))) expect(chunk).to.deep.equal(nearest.get(chunk.id));
        right += found.filter(({ id }) => nearest.has(id)).length;
      }
      expect(right / (10 * queries.length)).to.be.at.least(0.95);
      if (db() === indexed) expect(await explainLastSearch()).to.include(`Index Scan using ${indexOf('large')}`);
    });
  }

  it('never finds what belongs to another workspace or another model, however near it is', async () => {
    for (const workspaceId of ['large', 'changing']) {
      for (const [i, vector] of queries.entries()) {
        for (const db of [...(i < 2 ? [exactly.db] : []), quantized.db, indexed]) {
          const found = await search(db, workspaceId, vector, 50);
          expect(found).to.have.length(50);
          for (const chunk of found) expect(chunk).to.include({ document_id: workspaceId }).and.have.property('score').below(0.9999);
        }
        expect(await explainLastSearch()).to.include(indexOf(workspaceId));
      }
    }
    expect(await search(quantized.db, 'none', queries[0] ?? [])).to.deep.equal([]);
  });

  it('scans where the index leads to too little', async () => {
    for (const vector of queries.slice(0, 3)) {
      expect(await search(indexed, 'mixed', vector, 6)).to.deep.equal(await search(exactly.db, 'mixed', vector, 6));
      expect(await explainLastSearch()).to.include(indexOf('mixed'));
      expect(await search(indexed, 'mixed', vector)).to.deep.equal(await search(exactly.db, 'mixed', vector));
      expect(await explainLastSearch()).to.not.include('chunk_embedding');
    }
  });

  it('finds what an older version indexed again, until its vectors are quantized and after', async () => {
    const [vector = []] = queries;
    const nearest = makeVectorsAround(vector, { seed: 1, count: 3, spread: 0.001 });
    for (const [index, embedding] of nearest.entries())
      await quantized.db.updateTable('chunk').set({ embedding }).where('document_id', '=', 'small').where('index', '=', index).execute();
    const find = async () => (await search(quantized.db, 'small', vector, 3)).map(({ index }) => index).sort();
    expect(await find()).to.not.deep.equal([0, 1, 2]);
    await quantized.db.updateTable('document').set({ indexed_at: new Date() }).where('id', '=', 'small').execute();
    expect(await find()).to.deep.equal([0, 1, 2]);
    expect(await quantizeDocuments(quantized.db)).to.equal(1);
    expect(await find()).to.deep.equal([0, 1, 2]);
    expect(await quantizeDocuments(quantized.db)).to.equal(0);
  });

  it('scans a large workspace without its index', async () => {
    await sql`drop index ${sql.id(indexOf('large'))}`.execute(indexed);
    for (const vector of queries.slice(0, 3)) {
      expect(await search(indexed, 'large', vector)).to.deep.equal(await search(quantized.db, 'large', vector));
      expect(await explainLastSearch()).to.not.include('chunk_embedding');
    }
  });

  it('finds what was just stored by its quantized vectors, and no more what was stored before', async () => {
    const document = await getDocument(quantized.db, 'mixed');
    const store = (vectors: number[][]) =>
      quantized.db.transaction().execute((trx) =>
        storeChunks(
          trx,
          document,
          model,
          vectors.map((embedding, n) => ({ text: `stored ${n}`, embedding })),
        ),
      );
    await store(makeVectors(8, 700, dimensions));
    const blocks = () => quantized.db.selectFrom('vector_block').select('first_index').where('document_id', '=', 'mixed').execute();
    expect(await blocks()).to.have.length(1);
    await store([...makeVectors(9, 1_400, dimensions), ...queries]);
    expect(await blocks()).to.have.length(2);
    expect(await quantizeDocuments(quantized.db)).to.equal(0);
    for (const [n, vector] of queries.entries()) {
      const [best] = await search(quantized.db, 'mixed', vector, 1);
      expect(best).to.include({ text: `stored ${1_400 + n}` });
    }
    await store([]);
    expect(await blocks()).to.deep.equal([]);
    expect(await search(quantized.db, 'mixed', queries[0] ?? [])).to.deep.equal([]);
  });

  it('keeps vectors for pgvector with what is stored, and computes what a block lacks', async () => {
    const document = await getDocument(indexed, 'small');
    const chunks = queries.map((embedding) => ({ text: 'a', embedding }));
    await indexed.transaction().execute((trx) => storeChunks(trx, document, model, chunks));
    const lacking = async () =>
      (
        await sql`select first_index from vector_block left join vector_block_half using (workspace_id, model, dimensions, document_id, first_index)
        where half_vectors is null`.execute(indexed)
      ).rows;
    const findEach = async () => {
      for (const [n, vector] of queries.entries()) expect((await search(indexed, 'small', vector, 1))[0]).to.include({ index: n });
      expect(lastCandidates.text).to.include('half_vectors');
    };
    expect(await lacking()).to.deep.equal([]);
    await findEach();
    await sql`delete from vector_block_half where document_id = 'small'`.execute(indexed);
    expect(await lacking()).to.have.length(1);
    await findEach();
    await reconcileVectorIndexes(indexed, largerThan);
    expect(await lacking()).to.deep.equal([]);
    await findEach();
  });

  it('loses its vectors with the document', async () => {
    const blocksOf = async (id: string) =>
      (await quantized.db.selectFrom('vector_block').select('document_id').where('document_id', '=', id).execute()).length;
    expect([await blocksOf('small'), await blocksOf('neighbor')].every((blocks) => blocks > 0)).to.equal(true);
    await quantized.db.deleteFrom('document').where('id', '=', 'small').execute();
    expect(await blocksOf('small')).to.equal(0);
    expect(await blocksOf('neighbor')).to.be.greaterThan(0);
  });
});
