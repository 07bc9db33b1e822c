import { expect } from 'chai';
import { CompiledQuery, sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import type { FoundChunk } from '../../domain/search/find-chunks.ts';
import { reconcileVectorIndexes } from '../../domain/search/reconcile-vector-indexes.ts';
import { dotProduct, toUnitLength } from '../../domain/search/unit-vector.ts';
import { find, insertWorkspaceOfChunks, makeVectors, makeVectorsAround, type NewChunk, storeIn } from '../support/chunks.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createPgvectorDatabase } from '../support/pgvector.ts';

const dimensions = 16;
/** A workspace of more chunks gets an index here. */
const largerThan = 1_500;
const model = 'a';
const indexOf = (workspaceId: string) => `chunk_vector_of_${dimensions}_${workspaceId}`;
const queries = makeVectors(7, 8, dimensions);
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
  /** Two databases that hold the same: without pgvector and with it. */
  let plain: TestDatabase;
  let indexed: Db;
  let lastCandidates: { text: string; parameters: readonly unknown[] };

  before(async () => {
    plain = await createTestDatabase({ poolSize: 2 });
    indexed = await createPgvectorDatabase((text, parameters) => {
      if (text.trimStart().startsWith('select document_id as') || text.includes('from "vector_block"'))
        lastCandidates = { text, parameters };
    });
    for (const [id, chunks] of Object.entries(workspaces))
      for (const db of [plain.db, indexed]) await insertWorkspaceOfChunks(db, id, chunks);
    const kept = await reconcileVectorIndexes(indexed, largerThan);
    if (kept && 'made' in kept) kept.made.sort();
    expect(kept).to.deep.equal({ pgvector: '0.8.7', made: ['changing', 'large'].map(indexOf), dropped: [] });
    for (const db of [plain.db, indexed]) await sql`analyze`.execute(db);
  });
  after(async () => {
    await plain.drop();
    await indexed.destroy();
  });

  const search = (db: Db, workspaceId: string, vector: number[], limit = 10) =>
    find(db, { workspaceId, embedded: { model, vector }, limit });
  const isOrdered = (found: FoundChunk[]) =>
    expect(found.map(({ score }) => score)).to.deep.equal(found.map(({ score }) => score ?? 0).sort((one, two) => two - one));
  /** The exact scores of all chunks that compare, best first. */
  const expected = (workspaceId: string, vector: number[], name = model) =>
    (workspaces[workspaceId] ?? [])
      .filter((chunk) => chunk.model === name && chunk.vector.length === vector.length)
      .map((chunk) => dotProduct(toUnitLength(chunk.vector), toUnitLength(vector)))
      .sort((one, other) => other - one);
  function expectScores(found: FoundChunk[], scores: number[], delta = 1e-6): void {
    expect(found).to.have.length(scores.length);
    for (const [index, { score }] of found.entries()) expect(score).to.be.closeTo(scores[index] ?? Number.NaN, delta);
  }
  const both = () => [plain.db, indexed];

  async function explainLastSearch(): Promise<string> {
    const { rows } = await indexed.executeQuery<{ 'QUERY PLAN': string }>(
      CompiledQuery.raw(`explain ${lastCandidates.text}`, [...lastCandidates.parameters]),
    );
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  }

  it('finds the nearest of a small workspace both ways, in their order, with exact scores', async () => {
    for (const vector of [...queries.slice(0, 5), zero])
      for (const limit of [1, 10, 50, 1_000])
        for (const db of both()) expectScores(await search(db, 'small', vector, limit), expected('small', vector).slice(0, limit));
    expect(await explainLastSearch()).to.not.include('chunk_vector_of');
  });

  it('scores by the cosine of vectors of any length', async () => {
    const [query = []] = queries;
    const longer = query.map((value) => value * 1e20);
    for (const db of both()) expectScores(await search(db, 'small', longer, 50), expected('small', query).slice(0, 50));
  });

  for (const [way, db] of [
    ['by a scan of bytes', () => plain.db],
    ['through an index', () => indexed],
  ] as const) {
    it(`finds nearly all of the nearest in a large workspace ${way}`, async () => {
      let right = 0;
      for (const vector of queries) {
        const found = await search(db(), 'large', vector);
        isOrdered(found);
        const least = (expected('large', vector)[9] ?? 0) - 1e-6;
        right += found.filter(({ score }) => (score ?? 0) >= least).length;
      }
      expect(right / (10 * queries.length)).to.be.at.least(0.95);
      if (db() === indexed) expect(await explainLastSearch()).to.include(`Index Scan using ${indexOf('large')}`);
    });
  }

  it('never finds what belongs to another workspace or another model, however near it is', async () => {
    for (const workspaceId of ['large', 'changing'])
      for (const vector of queries)
        for (const db of both()) {
          const found = await search(db, workspaceId, vector, 50);
          expect(found).to.have.length(50);
          for (const chunk of found) expect(chunk).to.include({ document_id: workspaceId }).and.have.property('score').below(0.9999);
        }
    expect(await search(plain.db, 'none', queries[0] ?? [])).to.deep.equal([]);
  });

  it('scans where the index leads to too little', async () => {
    const [vector = []] = queries;
    const embedded = { model: 'b', vector };
    const [few, all] = [await find(indexed, { workspaceId: 'changing', embedded, limit: 5 }), expected('changing', vector, 'b')];
    // Many are nearer to each other than half precision tells.
    expectScores(few, all.slice(0, 5), 1e-4);
    expect(lastCandidates.text).to.include(`halfvec(${dimensions})`);
    expectScores(await find(indexed, { workspaceId: 'changing', embedded, limit: 1_000 }), all);
    expect(lastCandidates.text).to.not.include(`halfvec(${dimensions})`);
  });

  it('scans a large workspace without its index', async () => {
    await sql`drop index ${sql.id(indexOf('large'))}`.execute(indexed);
    for (const vector of queries.slice(0, 3)) {
      expectScores(await search(indexed, 'large', vector), expected('large', vector).slice(0, 10));
      expect(await explainLastSearch()).to.not.include('chunk_vector_of');
    }
  });

  it('finds what was just stored, and no more what was stored before', async () => {
    const store = (db: Db, vectors: number[][]) =>
      storeIn(
        db,
        'mixed-1',
        model,
        vectors.map((embedding, n) => ({ text: `stored ${n}`, embedding })),
      );
    for (const db of both()) {
      await store(db, makeVectors(8, 700, dimensions));
      await store(db, [...makeVectors(9, 1_400, dimensions), ...queries]);
      for (const [n, vector] of queries.entries())
        expect((await search(db, 'mixed', vector, 1))[0]).to.include({ text: `stored ${1_400 + n}` });
      await store(db, []);
      expect(await search(db, 'mixed', queries[0] ?? [])).to.deep.equal([]);
    }
  });

  it('loses its vectors with the document', async () => {
    const countIn = async (db: Db, table: string, id: string) =>
      (await sql`select from ${sql.table(table)} where document_id = ${id}`.execute(db)).rows.length;
    for (const [db, table] of [
      [plain.db, 'vector_block'],
      [indexed, 'chunk_vector'],
    ] as const) {
      expect(await countIn(db, table, 'small')).to.be.greaterThan(0);
      await db.deleteFrom('document').where('id', '=', 'small').execute();
      expect(await countIn(db, table, 'small')).to.equal(0);
      expect(await countIn(db, table, 'neighbor')).to.be.greaterThan(0);
    }
  });

  it('takes pgvector that comes later, with all that is stored', async () => {
    await sql`drop table chunk_vector`.execute(indexed);
    const [vector = []] = queries;
    expectScores(await search(indexed, 'large', vector), expected('large', vector).slice(0, 10));
    expect(lastCandidates.text).to.not.include('chunk_vector');
    expect(await reconcileVectorIndexes(indexed, 1e9)).to.have.property('pgvector');
    expectScores(await search(indexed, 'large', vector), expected('large', vector).slice(0, 10));
    expect(lastCandidates.text).to.include('chunk_vector');
  });
});
