import { expect } from 'chai';
import { sql } from 'kysely';
import pg from 'pg';
import { anyOf, batchedRead } from '../../db/batched-read.ts';
import type { Db } from '../../db/connect.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

interface Row {
  id: string;
  value: number;
}

describe('Batched reads', () => {
  let database: TestDatabase;
  let loads: string[][];

  const read = batchedRead(
    (db, keys) => {
      loads.push([...keys]);
      return sql<Row>`select id, value from shelf where id = ${anyOf(keys)}`.execute(db).then(({ rows }) => rows);
    },
    ({ id }) => id,
  );
  const set = (db: Db, id: string, value: number) =>
    sql`insert into shelf values (${id}, ${value}) on conflict (id) do update set value = excluded.value`.execute(db);

  before(async () => {
    database = await createTestDatabase({ poolSize: 4 });
    await sql`create table shelf (id text primary key, value int not null)`.execute(database.db);
  });
  after(() => database.drop());
  beforeEach(async () => {
    await sql`truncate shelf`.execute(database.db);
    await set(database.db, 'a', 1);
    await set(database.db, 'b', 2);
    loads = [];
  });

  it('ask once for what is wanted in one turn, and give each asker its own', async () => {
    // As requests do: each in a callback of its own, with all that it awaits done before the next one's.
    const asked = ['b', 'a', 'missing', 'b'].map(async (id, index) => {
      for (let ticks = 0; ticks < 3 * index; ticks++) await new Promise<void>((resolve) => process.nextTick(resolve));
      return read(database.db, id);
    });
    const rows = await Promise.all(asked);
    expect(rows).to.deep.equal([{ id: 'b', value: 2 }, { id: 'a', value: 1 }, undefined, { id: 'b', value: 2 }]);
    expect(loads).to.deep.equal([['b', 'a', 'missing']]);
  });

  it('keep nothing: who asks after a change sees it, while an earlier read is still under way', async () => {
    const earlier = read(database.db, 'a');
    await new Promise((resolve) => setImmediate(resolve));
    await set(database.db, 'a', 10);
    expect(await read(database.db, 'a')).to.deep.equal({ id: 'a', value: 10 });
    await earlier;
    expect(loads).to.deep.equal([['a'], ['a']]);
  });

  it('stay inside of a transaction, in its order', async () => {
    await database.db.transaction().execute(async (trx) => {
      await set(trx, 'a', 20);
      const [inside, outside] = await Promise.all([read(trx, 'a'), read(database.db, 'a')]);
      expect([inside?.value, outside?.value]).to.deep.equal([20, 1]);
    });
  });

  it('fail for all who asked, and for nobody after them', async () => {
    await sql`alter table shelf rename to hidden`.execute(database.db);
    const failed = await Promise.allSettled([read(database.db, 'a'), read(database.db, 'b')]);
    await sql`alter table hidden rename to shelf`.execute(database.db);
    for (const result of failed) expect(result).to.include({ status: 'rejected' }).and.have.property('reason').instanceOf(pg.DatabaseError);
    expect(await read(database.db, 'b')).to.deep.equal({ id: 'b', value: 2 });
  });

  it('survive a migration that changes what a statement answers', async () => {
    const all = () => database.db.selectFrom('workspace').selectAll().where('id', '=', 'none').execute();
    expect(await all()).to.deep.equal([]);
    await sql`alter table workspace add column shelf text`.execute(database.db);
    expect(await all()).to.deep.equal([]);
  });
});
