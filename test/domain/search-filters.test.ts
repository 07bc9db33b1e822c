import { expect } from 'chai';
import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import type { DocumentFilter } from '../../domain/documents/document-filter.ts';
import { findDocumentScope } from '../../domain/documents/document-scope.ts';
import { toLabelColumns } from '../../domain/documents/labels.ts';
import type { ChunkSearch } from '../../domain/search/find-chunks.ts';
import { reconcileVectorIndexes } from '../../domain/search/reconcile-vector-indexes.ts';
import { dotProduct, toUnitLength } from '../../domain/search/unit-vector.ts';
import { find, insertDocument, insertWorkspace, makeVectors, storeIn } from '../support/chunks.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createPgvectorDatabase } from '../support/pgvector.ts';

const [dimensions, documents, chunksOfEach] = [32, 80, 12];
const vectors = makeVectors(3, documents * chunksOfEach, dimensions);
const queries = makeVectors(7, 2, dimensions);
const words = ['mirror', 'dome', 'lens', 'lamp', 'keeper', 'quay', 'oil'];
const idOf = (number: number, workspaceId = 'own') => `${workspaceId}-${String(number).padStart(3, '0')}`;
const textOf = (number: number, index: number) =>
  Array.from({ length: 3 + ((number + index) % 9) }, (_, n) => words[(number * 5 + index * 3 + n * n) % words.length]).join(' ');

interface Made {
  number: number;
  tags: string[];
  metadata: Record<string, unknown>;
}
const made: Made[] = Array.from({ length: documents }, (_, number) => ({
  number,
  tags: [number % 2 ? 'odd' : 'even', ...(number % 3 ? [] : ['third'])],
  metadata: { number, place: { floor: number % 4 } },
}));

/** What the other workspace holds, too: enough for an index, and some that each filter would find. */
const neighbors = made.filter(({ number }) => number % 7 === 0 || number === 3);

const filters: Record<string, { filter: DocumentFilter; holds: (document: Made) => boolean }> = {
  'a tag that half of them have': { filter: { tags: ['even'] }, holds: ({ number }) => number % 2 === 0 },
  'two tags': { filter: { tags: ['odd', 'third'] }, holds: ({ number }) => number % 2 === 1 && number % 3 === 0 },
  'a field of the metadata': { filter: { metadata: { number: 77 } }, holds: ({ number }) => number === 77 },
  'a field of a field': { filter: { metadata: { place: { floor: 3 } } }, holds: ({ number }) => number % 4 === 3 },
  'their ids': { filter: { ids: [idOf(1), idOf(2), idOf(3, 'neighbor')] }, holds: ({ number }) => number === 1 || number === 2 },
  'their type': { filter: { contentTypes: ['text/html', 'text/csv'] }, holds: ({ number }) => number % 5 === 0 },
  'when they were created': {
    filter: { created: [new Date(10_000), new Date(20_000)] },
    holds: ({ number }) => number >= 10 && number < 20,
  },
  'a tag that there is not': { filter: { tags: ['none'] }, holds: () => false },
};

describe('A search of some documents', () => {
  let plain: TestDatabase;
  let scanned: Db;
  let indexed: Db;
  const plans: string[] = [];

  before(async function () {
    this.timeout(300_000);
    plain = await createTestDatabase({ poolSize: 2 });
    const note = (text: string) => void plans.push(text);
    [scanned, indexed] = [await createPgvectorDatabase(note), await createPgvectorDatabase(note)];
    await Promise.all(
      [plain.db, scanned, indexed].map(async (db) => {
        await makeWorkspace(db, 'own', made);
        await makeWorkspace(db, 'neighbor', neighbors);
      }),
    );
    const kept = await reconcileVectorIndexes(indexed, 100);
    expect(kept).to.have.property('made').with.length(2);
    for (const db of [plain.db, scanned, indexed]) await sql`analyze`.execute(db);
  });
  after(async () => {
    await plain?.drop();
    await scanned?.destroy();
    await indexed?.destroy();
  });

  async function makeWorkspace(db: Db, id: string, documents: Made[]): Promise<void> {
    await insertWorkspace(db, id, { model: 'a', dimensions });
    for (const { number, tags, metadata } of documents) {
      const document = { id: idOf(number, id), organization_id: id, workspace_id: id, name: `${number}.txt`, object_key: idOf(number, id) };
      const type = number % 5 ? 'text/plain' : number % 10 ? 'text/html' : 'text/csv';
      await db
        .insertInto('document')
        .values({ ...document, ...toLabelColumns(id, { tags, metadata }), content_type: type, size_bytes: 1, status: 'ready' })
        .execute();
      await db
        .updateTable('document')
        .set({ created_at: new Date(number * 1_000) })
        .where('id', '=', document.id)
        .execute();
      const chunks = Array.from({ length: chunksOfEach }, (_, index) => ({
        text: textOf(number, index),
        embedding: vectors[number * chunksOfEach + index] ?? [],
      }));
      await storeIn(db, document.id, 'a', chunks);
    }
  }

  /** What there is to find, best first: `<document> <index>` with its score. */
  function expected(vector: number[], holds: (document: Made) => boolean, byDocument: boolean): [string, number][] {
    const query = toUnitLength(vector);
    const all = made.filter(holds).flatMap(({ number }) =>
      Array.from({ length: chunksOfEach }, (_, index): [string, number] => {
        const score = dotProduct(toUnitLength(vectors[number * chunksOfEach + index] ?? []), query);
        return [`${idOf(number)} ${index}`, score];
      }),
    );
    const ranked = all.sort(([, one], [, other]) => other - one);
    return byDocument ? firstOfEach(ranked, ([key]) => key.split(' ')[0] ?? '') : ranked;
  }
  function firstOfEach<T>(ranked: T[], nameOf: (one: T) => string): T[] {
    return ranked.filter((one, place) => ranked.findIndex((other) => nameOf(other) === nameOf(one)) === place);
  }
  const keyOf = ({ document_id: id, index }: { document_id: string; index: number }) => `${id} ${index}`;

  const ways: [string, () => Db][] = [
    ['by a scan of bytes', () => plain.db],
    ['by a scan of half vectors', () => scanned],
    ['through an index', () => indexed],
  ];
  for (const [way, db] of ways) {
    for (const byDocument of [false, true]) {
      it(`finds the nearest ${byDocument ? 'documents' : 'chunks'} of those, ${way}, whether they are few or many`, async () => {
        let [right, all] = [0, 0];
        for (const { filter, holds } of Object.values(filters)) {
          for (const most of [undefined, 3]) {
            const scope = await findDocumentScope(db(), 'own', filter, most);
            for (const vector of queries) {
              const limit = 10;
              const found = await find(db(), { workspaceId: 'own', embedded: { model: 'a', vector }, limit, scope, byDocument });
              const wanted = expected(vector, holds, byDocument);
              const scores = new Map(expected(vector, holds, false));
              expect(found).to.have.length(Math.min(limit, wanted.length));
              for (const chunk of found) expect(chunk.score).to.be.closeTo(scores.get(keyOf(chunk)) ?? Number.NaN, 1e-5);
              if (byDocument) expect(new Set(found.map(({ document_id: id }) => id)).size).to.equal(found.length);
              const best = new Set(wanted.slice(0, limit).map(([key]) => key));
              right += found.filter((chunk) => best.has(keyOf(chunk))).length;
              all += best.size;
            }
          }
        }
        expect(right / all).to.be.at.least(way === 'through an index' ? 0.97 : 1);
      });
    }
  }

  it('uses the index of the workspace for many documents, and none for few', async () => {
    const search = async (most: number) => {
      const scope = await findDocumentScope(indexed, 'own', { tags: ['even'] }, most);
      plans.length = 0;
      await find(indexed, { workspaceId: 'own', embedded: { model: 'a', vector: queries[0] ?? [] }, limit: 5, scope });
      return plans.join('\n');
    };
    expect(await search(3)).to.include('hnsw.iterative_scan');
    const few = await search(1_000);
    expect(few).to.include('chunk_vector');
    expect(few).to.not.include('hnsw.iterative_scan');
  });

  it('scores by words as it does without a filter', async () => {
    const { db } = plain;
    const search = { workspaceId: 'own', query: 'the mirror and its lens', limit: 5_000 };
    const everything = await find(db, search);
    expect(everything.length).to.be.greaterThan(500);
    for (const { filter, holds } of Object.values(filters)) {
      const ids = new Set(made.filter(holds).map(({ number }) => idOf(number)));
      const wanted = everything.filter(({ document_id: id }) => ids.has(id));
      for (const most of [undefined, 3]) {
        const scope = await findDocumentScope(db, 'own', filter, most);
        const found = await find(db, { ...search, scope });
        expect(found.map(({ id, lexicalScore }) => [id, lexicalScore])).to.deep.equal(
          wanted.map(({ id, lexicalScore }) => [id, lexicalScore]),
        );
        expect(found.map(({ rank }) => rank)).to.deep.equal(wanted.map((_, place) => place + 1));
        const few = await find(db, { ...search, limit: 3, scope });
        expect(few.map(({ lexicalScore }) => lexicalScore)).to.deep.equal(wanted.slice(0, 3).map(({ lexicalScore }) => lexicalScore));
        const grouped = await find(db, { ...search, scope, byDocument: true });
        const best = firstOfEach(wanted, ({ document_id: id }) => id);
        expect(grouped.map(({ document_id: id, lexicalScore }) => [id, lexicalScore])).to.have.deep.members(
          best.map(({ document_id: id, lexicalScore }) => [id, lexicalScore]),
        );
      }
    }
  });

  it('finds by both what the documents of the filter have, with the scores of both', async () => {
    const { db } = plain;
    for (const { filter, holds } of Object.values(filters)) {
      const ids = made.filter(holds).map(({ number }) => idOf(number));
      for (const byDocument of [false, true]) {
        const scope = await findDocumentScope(db, 'own', filter);
        const embedded = { model: 'a', vector: queries[0] ?? [] };
        const found = await find(db, { workspaceId: 'own', query: 'mirror', limit: 20, embedded, scope, byDocument });
        expect(found).to.have.length(Math.min(20, byDocument ? ids.length : ids.length * chunksOfEach));
        for (const { document_id: id } of found) expect(ids).to.include(id);
        if (byDocument) expect(new Set(found.map(({ document_id: id }) => id)).size).to.equal(found.length);
      }
    }
  });

  it('represents each document by the best of its chunks, by meaning and words together', async () => {
    const { db } = plain;
    await insertWorkspace(db, 'both', { model: 'a', dimensions: 2 });
    const store = (id: string, chunks: { text: string; embedding: number[] }[]) =>
      insertDocument(db, { id, workspaceId: 'both' }, 'a', chunks);
    await store(
      'much',
      Array.from({ length: 5 }, () => ({ text: 'mirror mirror mirror', embedding: [0.2, 1] })),
    );
    await store('both', [
      { text: 'far away', embedding: [1, 0] },
      { text: 'mirror of another telescope', embedding: [0, 1] },
    ]);
    await store('near', [{ text: 'nothing of it', embedding: [0.9, 0.2] }]);
    const search: ChunkSearch = { workspaceId: 'both', query: 'mirror', limit: 10, embedded: { model: 'a', vector: [1, 0] } };
    const found = await find(db, { ...search, byDocument: true });
    expect(found.map(({ document_id: id, rank }) => [id, rank])).to.deep.equal([
      ['both', 1],
      ['near', 2],
      ['much', 3],
    ]);
    expect(found[0]).to.include({ text: 'far away', lexicalScore: 0 });
    expect((await find(db, search)).map(({ document_id: id }) => id).slice(0, 2)).to.deep.equal(['both', 'near']);
  });
});
