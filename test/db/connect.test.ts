import { expect } from 'chai';
import { createDb, createPool, ping } from '../../db/connect.ts';
import { createEmptyDatabase, type TestDatabase } from '../support/database.ts';

describe('The query builder over a pool', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createEmptyDatabase();
  });
  after(() => database.drop());

  it('opens no connection once it is destroyed, even if it had none', async () => {
    const pool = createPool({ url: database.url, poolSize: 1 });
    const db = createDb(pool);
    await db.destroy();
    await db.destroy();
    const failure = await ping(db).then(
      () => undefined,
      (error: Error) => error,
    );
    expect(failure?.message).to.contain('after calling end on the pool');
    expect(pool.totalCount).to.equal(0);
  });
});
