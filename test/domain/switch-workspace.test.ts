import { expect } from 'chai';
import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import { getDocument } from '../../domain/documents/document.ts';
import { storeText } from '../../domain/documents/document-text.ts';
import { type BehindDocument, listBehind } from '../../domain/reindex/find-behind.ts';
import { stageDocument } from '../../domain/reindex/stage-document.ts';
import { switchWorkspace } from '../../domain/reindex/switch-workspace.ts';
import { readSearchedIndex } from '../../domain/search/searched-index.ts';
import { storeChunks } from '../../domain/search/store-chunks.ts';
import { insertWorkspaceOfChunks, makeVectors } from '../support/chunks.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { noOutline } from '../support/outline.ts';
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
  async function findBehind(): Promise<BehindDocument> {
    const [document] = await listBehind(database.db, { workspaceId: 'one', target, after: '', limit: 10 });
    if (!document) throw new Error('nothing is behind');
    return document;
  }
  const stage = (document: BehindDocument) => stageDocument(database.db, document, { kind: target, chunks });
  const extracted = (text: string) => ({ text, characters: text.length, pages: null, truncated: false, outline: noOutline });

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

  it('waits for a document that is not staged', async () => {
    expect(await switchOne()).to.deep.equal({ missing: 1 });
    expect(await searched()).to.deep.equal(old);
    expect(await stage(await findBehind())).to.equal(true);
    expect(await switchOne()).to.deep.equal({ switched: 1 });
    expect(await searched()).to.deep.equal(target);
  });

  it('waits for a document whose text was extracted again since it was embedded', async () => {
    const { db } = database;
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
    expect(await stage(await findBehind())).to.equal(true);
    const row = await getDocument(db, 'one');
    const result = await behind((trx) => storeText(trx, row, extracted('another text')), switchOne);
    expect(result).to.deep.equal({ missing: 1 });
    expect(await searched()).to.deep.equal(old);
  });

  it('keeps no chunks of a text that is replaced while they are stored', async () => {
    const { db } = database;
    const document = await findBehind();
    const row = await getDocument(db, 'one');
    const staged = await behind(
      (trx) => storeText(trx, row, extracted('another text')),
      () => stage(document),
    );
    expect(staged).to.equal(false);
    expect(await db.selectFrom('staged_index').select('document_id').execute()).to.deep.equal([]);
  });

  it('uses nothing that was staged for another target, or before the document was indexed again', async () => {
    const { db } = database;
    const wanted = { ...target, chunking: old.chunking };
    const row = await getDocument(db, 'one');
    const store = () => inTransaction(db, (trx) => storeChunks(trx, row, wanted, chunks));
    const left = { chunks: [{ text: 'a text of before', embedding: [1, 0, 0, 0] }] };
    await store();
    for (const [kind, isIndexedAgain] of [
      [{ ...wanted, model: 'abandoned' }, false],
      [wanted, true],
    ] as const) {
      const { indexed_at: indexedAt } = await getDocument(db, 'one');
      expect(await stageDocument(db, { documentId: 'one', indexedAt: indexedAt as Date, extractedAt: null }, { kind, ...left })).to.equal(
        true,
      );
      if (isIndexedAgain) await store();
      expect(await switchWorkspace(db, { workspaceId: 'one', target: wanted }, () => {})).to.deep.equal({ switched: 0 });
      expect(await db.selectFrom('chunk').select('text').execute()).to.deep.equal([{ text: 'a text' }]);
    }
  });

  it('waits for no document of another workspace, and switches none', async () => {
    const { db } = database;
    await insertWorkspaceOfChunks(db, 'two', [{ model: old.model, vector: makeVectors(1, 1, old.dimensions)[0] ?? [] }]);
    expect(await stage(await findBehind())).to.equal(true);
    expect(await switchOne()).to.deep.equal({ switched: 1 });
    const [theirs] = await listBehind(db, { workspaceId: 'two', target, after: '', limit: 10 });
    expect(theirs && (await stage(theirs))).to.equal(true);
    expect(await switchOne()).to.deep.equal({ switched: 0 });
    expect(await db.selectFrom('staged_index').select('document_id').execute()).to.deep.equal([{ document_id: 'two' }]);
  });
});
