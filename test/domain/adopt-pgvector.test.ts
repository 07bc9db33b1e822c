import { expect } from 'chai';
import { sql } from 'kysely';
import { createDb, createPool, type Db } from '../../db/connect.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/processes.ts';

describe('The table of vectors', () => {
  let database: TestDatabase;
  let db: Db;
  before(async () => {
    database = await createTestDatabase();
    db = createDb(createPool({ url: database.url, poolSize: 3 }));
    // A stand-in for pgvector: the function looks only at its name, its version and its type.
    await sql`insert into pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
      select 99999, 'vector', 10, 'public'::regnamespace, true, '0.8.0'`.execute(db);
    await sql`create domain halfvec as real[]`.execute(db);
  });
  after(async () => {
    await db.destroy();
    await database.drop();
  });

  it('is made once by two calls at the same time', async () => {
    const adopt = (of: Db) => sql<{ version: string }>`select version from adopt_pgvector()`.execute(of);
    const first = await db.startTransaction().execute();
    await adopt(first);
    const second = adopt(db);
    await until(async () => {
      const { rows } = await sql`select from pg_locks where not granted and relation = 'chunk'::regclass`.execute(first);
      return rows.length === 1;
    });
    await first.commit().execute();
    expect((await second).rows).to.deep.equal([{ version: '0.8.0' }]);
  });
});
