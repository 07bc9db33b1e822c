import { expect } from 'chai';
import { sql } from 'kysely';
import type { Db, Transaction } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import { systemActor } from '../../domain/audit.ts';
import { completeUpload } from '../../domain/documents/complete-upload.ts';
import { createUpload } from '../../domain/documents/create-upload.ts';
import { deleteDocument } from '../../domain/documents/delete-document.ts';
import { type DocumentRow, findDeclaredBytes } from '../../domain/documents/document.ts';
import { purgeAbandonedUploads, purgeUpload } from '../../domain/documents/purge-uploads.ts';
import { newId } from '../../domain/ids.ts';
import { lockDocument, lockWorkspace } from '../../domain/locks.ts';
import { drainWorkspace } from '../../domain/workspaces/drain-workspace.ts';
import { insertWorkspaceOfChunks } from '../support/chunks.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/processes.ts';

const noPlan = async () => null;

describe('A pending document', () => {
  let database: TestDatabase;
  let db: Db;
  let document: DocumentRow;
  beforeEach(async () => {
    database = await createTestDatabase();
    db = database.db;
    await insertWorkspaceOfChunks(db, 'one', []);
    await db.deleteFrom('document').execute();
    document = await create();
  });
  afterEach(() => database.drop());

  const create = () => {
    const upload = { id: newId(), organizationId: 'one', workspaceId: 'one', name: 'a.txt', contentType: 'text/plain', sizeBytes: 10 };
    return inTransaction(db, (trx) => createUpload(trx, noPlan, systemActor, upload));
  };
  const complete = (trx: Transaction) =>
    completeUpload(trx, noPlan, systemActor, document, { measuredBytes: 4, hasKind: () => true, mayRead: true });
  const age = (id: string, by: string) => sql`update document set created_at = now() - ${by}::interval where id = ${id}`.execute(db);
  const usedBytes = async () => (await db.selectFrom('workspace').select('used_bytes').executeTakeFirstOrThrow()).used_bytes;

  /** Begins `work` while a transaction holds the workspace, and goes on in it once `work` waits. */
  async function whileItWaits<T>(work: () => Promise<T>, then: (trx: Transaction) => Promise<unknown>): Promise<T> {
    let working: Promise<T> | undefined;
    await inTransaction(db, async (trx) => {
      await lockWorkspace(trx, 'one', 'change');
      working = work();
      await until(async () => {
        const { rows } = await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
          db,
        );
        return rows.length > 0;
      });
      await then(trx);
    });
    return (await working) as T;
  }

  it('becomes ready once, whoever completes it again', async () => {
    for (let n = 0; n < 2; n++) expect(await inTransaction(db, complete)).to.include({ status: 'ready', size_bytes: 4 });
    expect(await usedBytes()).to.equal(4);
    const audited = await db.selectFrom('audit_entry').select('id').where('action', '=', 'document.complete').execute();
    expect(audited).to.have.lengthOf(1);
  });

  it('is not completed while its organization is being deleted', async () => {
    await db.insertInto('organization_deletion').values({ organization_id: 'one', requested_by: null }).execute();
    expect(await inTransaction(db, complete).catch((error) => error)).to.include({ code: 'NOT_FOUND' });
  });

  it('is removed by the housekeeping after a day, and not before', async () => {
    await age(document.id, '23 hours');
    await age((await create()).id, '25 hours');
    expect(await purgeAbandonedUploads(db, { before: undefined, onProgress() {}, signal: new AbortController().signal })).to.equal(1);
    expect(await db.selectFrom('document').select('id').execute()).to.deep.equal([{ id: document.id }]);
  });

  it('is not removed by its workflow before a day is over', async () => {
    await age(document.id, '23 hours');
    const { purged, leftMs } = await inTransaction(db, (trx) => purgeUpload(trx, document.id));
    expect(purged).to.equal(false);
    expect(leftMs).to.be.within(3_500_000, 3_600_000);
    expect(await db.selectFrom('document').select('id').execute()).to.deep.equal([{ id: document.id }]);
  });

  it('is kept if it is completed just when it would be removed', async () => {
    await age(document.id, '25 hours');
    const kept = await whileItWaits(() => inTransaction(db, (trx) => purgeUpload(trx, document.id)), complete);
    expect(kept).to.deep.equal({ purged: false, leftMs: 0 });
    expect(await usedBytes()).to.equal(4);
  });

  it('is deleted, and removed, under the lock of its workspace, which comes before its own', async () => {
    const other = await create();
    await age(document.id, '25 hours');
    const ways: ((trx: Transaction) => Promise<unknown>)[] = [
      (trx: Transaction) => purgeUpload(trx, document.id),
      (trx: Transaction) => deleteDocument(trx, systemActor, other),
    ];
    for (const way of ways)
      await whileItWaits<unknown>(
        () => inTransaction(db, way),
        (trx) => sql`select from document for update nowait`.execute(trx),
      );
    expect(await db.selectFrom('document').select('id').execute()).to.deep.equal([]);
    expect(await usedBytes()).to.equal(0);
  });

  it('is there for its organization alone, and for nobody once its workspace is gone', async () => {
    expect(await findDeclaredBytes(db, 'one', document.id)).to.equal(10);
    expect(await findDeclaredBytes(db, 'other', document.id)).to.equal(undefined);
    const locked = () => inTransaction(db, (trx) => lockDocument(trx, document.id, 'share'));
    expect(await locked()).to.include({ id: document.id });
    await db.deleteFrom('workspace').where('id', '=', 'one').execute();
    expect(await locked()).to.equal(undefined);
  });

  it('is drained with its workspace, and its object is deleted also if the drain was broken off before', async () => {
    await db.deleteFrom('workspace').where('id', '=', 'one').execute();
    await db.deleteFrom('outbox').execute();
    const before = { jobs: 0, documents: 200 };
    const signal = new AbortController().signal;
    const drained = await drainWorkspace(db, { workspaceId: 'one', organizationId: 'one' }, { before, onProgress() {}, signal });
    expect(drained).to.deep.equal({ jobs: 0, documents: 201 });
    const intents = await db.selectFrom('outbox').select('workflow_id').execute();
    expect(intents.map(({ workflow_id }) => workflow_id)).to.have.members([`upload-${document.id}`, 'delete-objects-one']);
  });
});
