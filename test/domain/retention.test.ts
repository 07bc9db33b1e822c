import { expect } from 'chai';
import { sql } from 'kysely';
import { auditEntries, type Deleted, deleteInBatches, idempotencyKeys } from '../../domain/retention.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

describe('The deletion of rows past their time', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  const quietly = { onProgress() {}, signal: new AbortController().signal };
  const count = async (table: string) => {
    const { rows } = await sql<{ count: number }>`select count(*) from ${sql.table(table)}`.execute(database.db);
    return rows[0]?.count;
  };

  it('goes on after the last row if it is broken off, also among rows of one moment, and counts each once', async () => {
    const { db } = database;
    await sql`insert into audit_entry (id, action, created_at)
      select 'a' || n, 'x', case when n <= 4500 then now() - interval '400 days' else now() end from generate_series(1, 4600) n`.execute(
      db,
    );
    const stop = new AbortController();
    let reached: Deleted | undefined;
    const onProgress = (progress: Deleted) => {
      reached = progress;
      stop.abort();
    };
    const broken = deleteInBatches(db, auditEntries(100), { before: undefined, onProgress, signal: stop.signal });
    expect(await broken.catch((error) => error.name)).to.equal('AbortError');
    expect(reached?.deleted).to.equal(2_000);
    expect(await deleteInBatches(db, auditEntries(100), { before: reached, ...quietly })).to.equal(4_500);
    expect(await count('audit_entry')).to.equal(100);
  });

  it('leaves a row that somebody works on, and does not wait for it', async () => {
    const { db } = database;
    await db
      .insertInto('user')
      .values({ id: 'u', name: 'U', email: 'u@example.com' } as never)
      .execute();
    await sql`insert into idempotency_key (user_id, operation, key, request_hash, created_at)
      select 'u', 'o', 'k' || n, 'h', now() - interval '2 days' from generate_series(1, 3) n`.execute(db);
    await db.transaction().execute(async (trx) => {
      await sql`select from idempotency_key where key = 'k2' for update`.execute(trx);
      expect(await deleteInBatches(db, idempotencyKeys, { before: undefined, ...quietly })).to.equal(2);
    });
    expect(await deleteInBatches(db, idempotencyKeys, { before: undefined, ...quietly })).to.equal(1);
    expect(await count('idempotency_key')).to.equal(0);
  });
});
