import { expect } from 'chai';
import { inTransaction } from '../../db/transaction.ts';
import { chargeCredits } from '../../domain/credits/ledger.ts';
import { insertWorkspaceOfChunks } from '../support/chunks.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

describe('A charge', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  /** Charges one after another, in an organization of its own; which of them were made. */
  async function charge(aiCredits: number, ...amounts: number[]): Promise<boolean[]> {
    const organizationId = crypto.randomUUID();
    await insertWorkspaceOfChunks(database.db, organizationId, []);
    const plan = { plan: 'free' as const, limits: { aiCredits, members: 1, storageBytes: 1, workspaces: 1 } };
    const made: boolean[] = [];
    for (const credits of amounts) {
      const one = { organizationId, key: `job:${crypto.randomUUID()}:charge`, credits, jobId: null, reason: 'test' };
      const charged = inTransaction(database.db, (trx) => chargeCredits(trx, one, plan));
      made.push(
        await charged.then(
          () => true,
          ({ code }) => code !== 'LIMIT_REACHED',
        ),
      );
    }
    return made;
  }

  it('may use the last credit of a month, and no further one, also if it is the first', async () => {
    expect(await charge(5, 5, 1)).to.deep.equal([true, false]);
    expect(await charge(5, 6, 5)).to.deep.equal([false, true]);
    expect(await charge(5, 2, 4, 3, 1)).to.deep.equal([true, false, true, false]);
  });
});
