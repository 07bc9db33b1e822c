import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { sql } from 'kysely';
import { boundsOf, settingsOf, type WorkClass } from '../../db/bounds.ts';
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
        sql<{ name: string; ms: number }>`select name, setting::int as ms from pg_settings where name like '%\\_timeout'`.execute(db),
      );
      const settings = Object.fromEntries(rows.map(({ name, ms }) => [name, ms]));
      expect(settings, work).to.include(settingsOf(boundsOf[work]));
    }
  });

  it('keeps the settings that its URL names', async () => {
    const url = new URL(database.url);
    url.searchParams.set('options', '-c search_path=elsewhere -c work_mem=5MB');
    const pool = createPool({ url: url.href, poolSize: 1 });
    const { rows } = await pool.query(
      "select name, setting from pg_settings where name in ('search_path', 'work_mem', 'lock_timeout') order by name",
    );
    await pool.end();
    expect(rows.map(({ setting }) => setting)).to.deep.equal([String(boundsOf.request.lockMs), 'elsewhere', '5120']);
  });

  it('runs a migration and maintenance for as long as they take', async () => {
    for (const work of ['migration', 'maintenance'] as const) await withPool(work, (db) => sql`select pg_sleep(0.3)`.execute(db));
  });
});
