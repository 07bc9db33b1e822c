import { expect } from 'chai';
import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import { purgeAbandonedUploads, purgeUpload } from '../../domain/documents/purge-uploads.ts';
import { lockWorkspace } from '../../domain/locks.ts';
import type { Deleted } from '../../domain/retention.ts';
import { insertWorkspaceOfChunks } from '../support/chunks.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { nightly } from '../support/nightly.ts';
import { until } from '../support/processes.ts';

describe('Many abandoned uploads', () => {
  const bytes = 4;
  let database: TestDatabase;
  let db: Db;
  beforeEach(async () => {
    database = await createTestDatabase();
    db = database.db;
    for (const id of ['one', 'two']) await insertWorkspaceOfChunks(db, id, []);
    await db.deleteFrom('document').execute();
  });
  afterEach(() => database.drop());

  /** Adds uploads, the first of which is the oldest: `sameMs` of them at each moment, two days ago. */
  async function abandon(workspaceId: string, count: number, sameMs = 1): Promise<void> {
    await sql`
      insert into document (id, organization_id, workspace_id, name, content_type, size_bytes, status, object_key, created_at)
      select ${workspaceId} || '-' || lpad(n::text, 5, '0'), ${workspaceId}, ${workspaceId}, 'a', 'text/plain', ${bytes}, 'pending',
        ${workspaceId} || '/' || n, now() - interval '2 days' + (n / ${sameMs}) * interval '1 millisecond'
      from generate_series(1, ${count}::int) n
    `.execute(db);
    await sql`update workspace set used_bytes = ${bytes * count} where id = ${workspaceId}`.execute(db);
  }

  /** Makes the deletion of a document fail. */
  async function hold(id: string): Promise<void> {
    await sql`create function refuse() returns trigger language plpgsql as $$ begin raise 'This one stays.'; end $$`.execute(db);
    await sql`create trigger refuse before delete on document for each row when (old.id = ${sql.lit(id)}) execute function refuse()`.execute(
      db,
    );
  }

  async function purge(before?: Deleted): Promise<{ purged: number; failure: string; reports: Deleted[] }> {
    const reports: Deleted[] = [];
    const options = { before, onProgress: (progress: Deleted) => void reports.push(progress), signal: new AbortController().signal };
    let failure = '';
    const purged = await purgeAbandonedUploads(db, options).catch((error: Error) => {
      failure = error.message;
      return -1;
    });
    return { purged, failure, reports };
  }

  const left = async () => (await db.selectFrom('document').select('id').orderBy('id').execute()).map(({ id }) => id);
  const usedBytes = async () =>
    (await db.selectFrom('workspace').select('used_bytes').orderBy('id').execute()).map((row) => row.used_bytes);

  it('of several workspaces are deleted, their bytes given back, and their objects to be deleted', async () => {
    await abandon('one', 1_200, 700);
    await abandon('two', 30);
    expect(await purge()).to.include({ purged: 1_230, failure: '' });
    expect(await left()).to.deep.equal([]);
    expect(await usedBytes()).to.deep.equal([0, 0]);
    const { rows } = await sql<{ count: number }>`select count(*)::int from object_to_delete group by organization_id order by 1`.execute(
      db,
    );
    expect(rows.map(({ count }) => count)).to.deep.equal([30, 1_200]);
  });

  it('stay while their workspace or organization is held', async () => {
    for (const id of ['one', 'two']) await abandon(id, 3);
    await sql`insert into legal_hold (organization_id, workspace_id, reason) values ('one', 'one', 'A case.'), ('two', null, 'A case.')`.execute(
      db,
    );
    expect(await purge()).to.include({ purged: 0, failure: '' });
    expect(await inTransaction(db, (trx) => purgeUpload(trx, 'one-00001'))).to.deep.equal({ purged: false, leftMs: 0 });
    expect(await left()).to.have.lengthOf(6);
    await sql`delete from legal_hold`.execute(db);
    expect(await purge()).to.include({ purged: 6, failure: '' });
  });

  it('are purged on from where a worker that died has told', async () => {
    await abandon('one', 1_200);
    const last = { time: (await createdAt('one-00600')).toISOString(), id: 'one-00600' };
    expect(await purge({ deleted: 600, last })).to.include({ purged: 1_200, failure: '' });
    expect(await left()).to.have.lengthOf(600);
  });

  it('do not wait for one that fails, even in its workspace, and the next attempt looks at it again', async () => {
    await abandon('one', 1_200);
    await hold('one-00550');
    const first = await purge();
    expect(first.failure).to.include('This one stays.');
    expect(first.reports, 'signs of life').to.have.lengthOf.above(500);
    expect(await left()).to.deep.equal(['one-00550']);
    expect(await usedBytes()).to.deep.equal([bytes, 0]);
    await sql`drop trigger refuse on document`.execute(db);
    expect(await purge(first.reports.at(-1))).to.include({ purged: 1_200, failure: '' });
    expect(await left()).to.deep.equal([]);
  });

  nightly('of other workspaces do not wait for each upload of one that is locked', async () => {
    await abandon('one', 20);
    await abandon('two', 20);
    const blocked = await inTransaction(db, async (trx) => {
      await lockWorkspace(trx, 'one', 'change');
      return await purge();
    });
    expect(blocked.failure).to.include('lock timeout');
    expect((await left()).every((id) => id.startsWith('one'))).to.equal(true);
    // One wait for the lock takes ten seconds.
    expect(blocked.reports, 'one for each transaction').to.have.lengthOf(2);
    expect(await purge(blocked.reports.at(-1))).to.include({ purged: 40, failure: '' });
  });

  it('are each looked at once, however many there are', async () => {
    const count = 5_000;
    await abandon('one', count);
    await sql`analyze document`.execute(db);
    expect(await purge()).to.include({ purged: count, failure: '' });
    // Each connection tells Postgres what it has read only from time to time.
    await until(async () => (await indexEntriesRead()) >= count);
    expect(await indexEntriesRead()).to.be.below(2 * count);
  });

  async function createdAt(id: string): Promise<Date> {
    return (await db.selectFrom('document').select('created_at').where('id', '=', id).executeTakeFirstOrThrow()).created_at;
  }

  /** Those of uploads that are pending. */
  async function indexEntriesRead(): Promise<number> {
    const { rows } = await database.pool.query(
      `select idx_tup_read::int as read from pg_stat_user_indexes where indexrelname = 'document_pending'`,
    );
    return rows[0].read;
  }
});
