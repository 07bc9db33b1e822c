import { expect } from 'chai';
import { sql } from 'kysely';
import { createDb, createPool, type Db } from '../../db/connect.ts';
import { inShareOf, moveToShareOf } from '../../db/fair-share.ts';
import { DatabaseUnavailable } from '../../db/unavailable.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/processes.ts';

describe('A pool of connections', () => {
  let database: TestDatabase;
  let pool: ReturnType<typeof createPool>;
  let db: Db;
  before(async () => {
    database = await createTestDatabase();
    pool = createPool({ url: database.url, poolSize: 1 });
    db = createDb(pool);
  });
  after(async () => {
    await db.destroy();
    await database.drop();
  });

  /** Holds the one connection while `ask` asks for it, and returns the order in which the others were served. */
  async function whileHeld(ask: (served: (who: string) => Promise<void>) => Promise<void>[]): Promise<string[]> {
    const order: string[] = [];
    const client = await pool.connect();
    const asked = ask(async (who) => {
      await sql`select 1`.execute(db);
      order.push(who);
    });
    await until(() => pool.waitingCount === asked.length).finally(() => client.release());
    await Promise.all(asked);
    return order;
  }

  it('serves one tenant’s statement next, however many of another’s wait', async () => {
    const order = await whileHeld((served) => [
      ...Array.from({ length: 20 }, () => inShareOf('loud', () => served('loud'))),
      inShareOf('quiet', () => served('quiet')),
    ]);
    expect(order.indexOf('quiet')).to.equal(1);
  });

  it('counts what follows for the organization once it is known', async () => {
    const order = await whileHeld((served) => [
      ...['one', 'another', 'a third'].map((user) =>
        inShareOf(user, () => {
          moveToShareOf('loud organization');
          return served('loud');
        }),
      ),
      inShareOf('quiet', () => served('quiet')),
    ]);
    expect(order.indexOf('quiet')).to.equal(1);
  });

  it('gives no connection to two at once, also if one fails, and returns each', async () => {
    const failing = Array.from({ length: 5 }, () => sql`select 1 / 0`.execute(db).catch(() => 'failed'));
    expect(await Promise.all(failing)).to.deep.equal(Array(5).fill('failed'));
    await Promise.all(Array.from({ length: 5 }, () => db.transaction().execute((trx) => sql`select 1`.execute(trx))));
    expect([pool.totalCount, pool.idleCount, pool.waitingCount]).to.deep.equal([1, 1, 0]);
  });

  it('refuses who has waited for as long as the bound of its work says, and serves the next', async () => {
    const impatient = createPool({ url: database.url, poolSize: 1, work: 'session' });
    const client = await impatient.connect();
    const refused = await impatient.connect().catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(DatabaseUnavailable);
    expect(impatient.waitingCount).to.equal(0);
    client.release();
    expect((await impatient.query('select 1 as one')).rows).to.deep.equal([{ one: 1 }]);
    await impatient.end();
  });
});
