import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { sql } from 'kysely';
import { boundsOf, longestIdleMs, type WorkClass } from '../../db/bounds.ts';
import { createDb, createPool, type Db } from '../../db/connect.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

describe('A connection of a role that has bounds of its own', () => {
  const role = `bounded_${randomUUID().replaceAll('-', '')}`;
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
    await sql.raw(`create role ${role} login password 'bounded'`).execute(database.db);
    for (const setting of ['statement_timeout', 'lock_timeout'])
      await sql.raw(`alter role ${role} set ${setting} = '100ms'`).execute(database.db);
  });
  after(async () => {
    await sql.raw(`drop role ${role}`).execute(database.db);
    await database.drop();
  });

  async function withPool<T>(work: WorkClass, use: (db: Db) => Promise<T>): Promise<T> {
    const url = new URL(database.url);
    Object.assign(url, { username: role, password: 'bounded' });
    const db = createDb(createPool({ url: url.href, poolSize: 1, work }));
    return await use(db).finally(() => db.destroy());
  }

  it('has those of its work instead, and none if its work has none', async () => {
    for (const work of Object.keys(boundsOf) as WorkClass[]) {
      const { rows } = await withPool(work, (db) =>
        sql<{ name: string; ms: number }>`
          select name, setting::int as ms from pg_settings where name in ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout')
          order by name
        `.execute(db),
      );
      const { transactionMs, lockMs } = boundsOf[work];
      expect(rows, work).to.deep.equal([
        { name: 'idle_in_transaction_session_timeout', ms: Math.min(transactionMs || longestIdleMs, longestIdleMs) },
        { name: 'lock_timeout', ms: lockMs },
        { name: 'statement_timeout', ms: transactionMs },
      ]);
    }
  });

  it('runs a migration and maintenance for as long as they take', async () => {
    for (const work of ['migration', 'maintenance'] as const) await withPool(work, (db) => sql`select pg_sleep(0.3)`.execute(db));
  });
});
