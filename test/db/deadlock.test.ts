import { expect } from 'chai';
import type { Transaction } from '../../db/connect.ts';
import { inTransaction, retryDeadlocks } from '../../db/transaction.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

describe('A transaction', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase({ poolSize: 5 });
    const rows = ['ada', 'bob'].map((user_id) => ({ user_id, slot: 1, holder: 'nobody', expires_at: new Date() }));
    await database.db.insertInto('job_stream_lease').values(rows).execute();
  });
  after(() => database.drop());

  const lock = (trx: Transaction, user: string) =>
    trx.updateTable('job_stream_lease').set({ holder: user }).where('user_id', '=', user).execute();

  it('that a deadlock rolled back is run again', async () => {
    const bothHold = Promise.withResolvers<void>();
    let runs = 0;
    const inOrder = (first: string, second: string) =>
      inTransaction(database.db, async (trx) => {
        await lock(trx, first);
        if (++runs === 2) bothHold.resolve();
        await bothHold.promise;
        await lock(trx, second);
      });
    await Promise.all([inOrder('ada', 'bob'), inOrder('bob', 'ada')]);
    // If the machine is slow, the second try of one may meet the first of the other again.
    expect(runs).to.be.within(3, 5);
  });

  it('is run four times at the most, and not again after another failure', async () => {
    for (const [code, expected] of [
      ['40P01', 4],
      ['23505', 1],
    ] as const) {
      let runs = 0;
      const failure = await retryDeadlocks(async () => {
        runs++;
        throw Object.assign(new Error('failed'), { code });
      }).catch((error) => error.code);
      expect([failure, runs]).to.deep.equal([code, expected]);
    }
  });
});
