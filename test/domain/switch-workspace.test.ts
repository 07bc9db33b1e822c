import { expect } from 'chai';
import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import { storeChunks } from '../../domain/chunks/store-chunks.ts';
import { getDocument } from '../../domain/documents/document.ts';
import { storeText } from '../../domain/documents/document-text.ts';
import { type BehindDocument, listBehind } from '../../domain/reindex/find-behind.ts';
import { noteIndexKinds } from '../../domain/reindex/note-index-kinds.ts';
import { readSearchedIndex } from '../../domain/reindex/searched-index.ts';
import { stageDocument } from '../../domain/reindex/stage-document.ts';
import { switchWorkspace } from '../../domain/reindex/switch-workspace.ts';
import { insertWorkspaceOfChunks, makeVectors } from '../support/chunks.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/processes.ts';

const old = { model: 'old', dimensions: 8, chunking: '1' };
const target = { model: 'new', dimensions: 4, chunking: '1/900' };
const chunks = [{ text: 'a text', embedding: [3, 0, 4, 0] }];

describe('The switch of a workspace to other vectors', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase({ poolSize: 4 });
    const vectors = makeVectors(1, 3, old.dimensions);
    await insertWorkspaceOfChunks(
      database.db,
      'one',
      vectors.map((vector) => ({ model: old.model, vector })),
    );
  });
  afterEach(() => database.drop());

  const switchOne = () => switchWorkspace(database.db, { workspaceId: 'one', target }, () => {});
  const searched = () => readSearchedIndex(database.db, 'one');
  const noted = () => database.db.selectFrom('document_index').select('model').where('document_id', '=', 'one').executeTakeFirst();
  async function findBehind(): Promise<BehindDocument> {
    const [document] = await listBehind(database.db, { workspaceId: 'one', target, after: '', limit: 10 });
    if (!document) throw new Error('nothing is behind');
    return document;
  }
  const stage = (document: BehindDocument) => stageDocument(database.db, document, { kind: target, chunks });
  const extracted = (text: string) => ({ text, characters: text.length, pages: null, truncated: false });

  /** Begins `work` while `holder` has done its part and is not committed, and commits once `work` waits for it. */
  async function behind<T>(holder: (trx: Transaction) => Promise<void>, work: () => Promise<T>): Promise<T> {
    let working: Promise<T> | undefined;
    await inTransaction(database.db, async (trx) => {
      await holder(trx);
      working = work();
      await until(async () => {
        const { rows } = await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
          database.db,
        );
        return rows.length > 0;
      });
    });
    return (await working) as T;
  }

  it('waits for a document of which it is not noted with what it is indexed', async () => {
    expect(await switchOne()).to.deep.equal({ missing: 1 });
    expect(await searched()).to.deep.equal(old);
    await noteIndexKinds(database.db);
    expect(await stage(await findBehind())).to.equal(true);
    expect(await switchOne()).to.deep.equal({ switched: 1 });
    expect(await searched()).to.deep.equal(target);
  });

  it('waits for a document whose text was extracted again since it was embedded', async () => {
    const { db } = database;
    await noteIndexKinds(db);
    const document = await findBehind();
    expect(await stage(document)).to.equal(true);
    const row = await getDocument(db, 'one');
    await inTransaction(db, (trx) => storeText(trx, row, extracted('another text')));
    expect(await switchOne()).to.deep.equal({ missing: 1 });
    expect(await stage(document), 'embedded before that').to.equal(false);
    expect(await stage(await findBehind())).to.equal(true);
    expect(await switchOne()).to.deep.equal({ switched: 1 });
  });

  it('leaves no document out whose text is extracted again while it begins', async () => {
    const { db } = database;
    await noteIndexKinds(db);
    expect(await stage(await findBehind())).to.equal(true);
    const row = await getDocument(db, 'one');
    const result = await behind((trx) => storeText(trx, row, extracted('another text')), switchOne);
    expect(result).to.deep.equal({ missing: 1 });
    expect(await searched()).to.deep.equal(old);
  });

  it('keeps no chunks of a text that is replaced while they are stored', async () => {
    const { db } = database;
    await noteIndexKinds(db);
    const document = await findBehind();
    const row = await getDocument(db, 'one');
    const staged = await behind(
      (trx) => storeText(trx, row, extracted('another text')),
      () => stage(document),
    );
    expect(staged).to.equal(false);
    expect(await db.selectFrom('staged_index').select('document_id').execute()).to.deep.equal([]);
  });

  it('uses nothing that was staged for another target or an earlier index of a document that has the target by now', async () => {
    const { db } = database;
    const wanted = { ...target, chunking: old.chunking };
    const row = await getDocument(db, 'one');
    await inTransaction(db, (trx) => storeChunks(trx, row, wanted.model, chunks, wanted));
    const left = { chunks: [{ text: 'a text of before', embedding: [1, 0, 0, 0] }] };
    for (const [kind, isIndexedAgain] of [
      [{ ...wanted, model: 'abandoned' }, false],
      [wanted, true],
    ] as const) {
      const { indexed_at: indexedAt } = await getDocument(db, 'one');
      expect(await stageDocument(db, { documentId: 'one', indexedAt: indexedAt as Date, extractedAt: null }, { kind, ...left })).to.equal(
        true,
      );
      // As by an older version.
      if (isIndexedAgain) await sql`update document set indexed_at = clock_timestamp() + interval '1 s'`.execute(db);
      await noteIndexKinds(db);
      expect(await switchWorkspace(db, { workspaceId: 'one', target: wanted }, () => {})).to.deep.equal({ switched: 0 });
      expect(await db.selectFrom('chunk').select('text').execute()).to.deep.equal([{ text: 'a text' }]);
    }
  });

  it('waits for no document of another workspace, and switches none', async () => {
    const { db } = database;
    await insertWorkspaceOfChunks(db, 'two', [{ model: old.model, vector: makeVectors(1, 1, old.dimensions)[0] ?? [] }]);
    await noteIndexKinds(db, { workspaceId: 'one' });
    expect(await stage(await findBehind())).to.equal(true);
    expect(await switchOne()).to.deep.equal({ switched: 1 });
    await noteIndexKinds(db);
    const [theirs] = await listBehind(db, { workspaceId: 'two', target, after: '', limit: 10 });
    expect(theirs && (await stage(theirs))).to.equal(true);
    expect(await switchOne()).to.deep.equal({ switched: 0 });
    expect(await db.selectFrom('staged_index').select('document_id').execute()).to.deep.equal([{ document_id: 'two' }]);
  });

  it('is not led astray by a note of an index that the document no longer has', async () => {
    const { db } = database;
    const row = await getDocument(db, 'one');
    await behind(
      (trx) => storeChunks(trx, row, target.model, chunks, target),
      () => noteIndexKinds(db),
    );
    expect(await noted()).to.deep.equal({ model: target.model });
  });
});

describe('With what a workspace is searched that has vectors of two models', () => {
  it('is the model of the document that was indexed last, until it is noted', async () => {
    const database = await createTestDatabase({ poolSize: 2 });
    try {
      const { db } = database;
      const [vector = []] = makeVectors(1, 1, old.dimensions);
      await insertWorkspaceOfChunks(db, 'one', [{ model: 'zebra', vector }]);
      const first = await getDocument(db, 'one');
      const document = { id: 'later', organization_id: 'one', workspace_id: 'one', name: 'later.txt', content_type: 'text/plain' };
      await db
        .insertInto('document')
        .values({ ...document, size_bytes: 1, object_key: 'later', status: 'ready' })
        .execute();
      const later = await getDocument(db, 'later');
      for (const [row, model] of [
        [first, 'zebra'],
        [later, 'aardvark'],
      ] as const) {
        await inTransaction(db, (trx) => storeChunks(trx, row, model, [{ text: 'a text', embedding: vector }]));
      }
      expect(await readSearchedIndex(db, 'one')).to.include({ model: 'aardvark', dimensions: old.dimensions });
    } finally {
      await database.drop();
    }
  });
});
