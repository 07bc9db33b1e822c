import { expect } from 'chai';
import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import { systemActor } from '../../domain/audit.ts';
import { checkLedger } from '../../domain/credits/check-ledger.ts';
import { chargeCredits } from '../../domain/credits/ledger.ts';
import { openCharge, refundCharge, settleCharge } from '../../domain/credits/open-charge.ts';
import { cancelJob } from '../../domain/jobs/cancel-job.ts';
import { insertJob } from '../../domain/jobs/create-job.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

describe('The check of the ledger', () => {
  let database: TestDatabase;
  let organizationId: string;

  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());
  beforeEach(async () => {
    organizationId = crypto.randomUUID();
    const organization = { id: organizationId, name: 'Acme', slug: organizationId, createdAt: new Date() };
    await database.db
      .insertInto('organization')
      .values(organization as never)
      .execute();
  });

  const transaction = <T>(work: (trx: Transaction) => Promise<T>) => inTransaction(database.db, work);
  const check = async () =>
    (await checkLedger(database.db, { organizationId })).map(({ problem, job_id, expected, found }) => ({
      problem,
      job_id,
      expected,
      found,
    }));

  /** Jobs as they come to be: queued, canceled, and one whose row was deleted later; and a search. */
  async function makeJobs(): Promise<{ queued: string; canceled: string }> {
    const job = { organizationId, workspaceId: null, documentId: null, input: {}, maxAttempts: 4, createdBy: null };
    const insert = () => transaction((trx) => insertJob(trx, { ...job, kind: 'text.summarize' }, null)).then(({ id }) => id);
    const [queued, canceled, deleted] = [await insert(), await insert(), await insert()];
    for (const id of [canceled, deleted]) await transaction((trx) => cancelJob(trx, systemActor, id));
    await database.db.deleteFrom('job').where('id', '=', deleted).execute();
    const search = { organizationId, key: `search:${crypto.randomUUID()}:charge`, credits: 1, jobId: null, reason: 'documents.search' };
    await transaction((trx) => chargeCredits(trx, search, null));
    return { queued, canceled };
  }

  it('finds nothing where every job was charged, and refunded where it should', async () => {
    await makeJobs();
    expect(await check()).to.deep.equal([]);
  });

  it('finds a job without its charge, and a month that is not the sum of its entries', async () => {
    const { queued } = await makeJobs();
    await database.db.deleteFrom('credit_entry').where('key', '=', `job:${queued}:charge`).execute();
    expect(await check()).to.have.deep.members([
      { problem: 'charge', job_id: queued, expected: 5, found: 0 },
      { problem: 'month', job_id: null, expected: 1, found: 6 },
    ]);
  });

  it('finds a missing refund, and one that has no reason', async () => {
    const { queued, canceled } = await makeJobs();
    await database.db.updateTable('job').set({ status: 'failed' }).where('id', '=', queued).execute();
    await database.db.updateTable('job').set({ status: 'succeeded' }).where('id', '=', canceled).execute();
    expect(await check()).to.have.deep.members([
      { problem: 'refund', job_id: queued, expected: -5, found: 0 },
      { problem: 'refund', job_id: canceled, expected: 0, found: -5 },
    ]);
  });

  it('finds a refund without its charge, also of a job that is gone', async () => {
    const { canceled } = await makeJobs();
    await database.db.deleteFrom('job').where('id', '=', canceled).execute();
    await database.db.deleteFrom('credit_entry').where('key', '=', `job:${canceled}:charge`).execute();
    expect(await check()).to.deep.include({ problem: 'refund_without_charge', job_id: canceled, expected: 0, found: -5 });
  });

  for (const [what, change] of [
    ['of another organization', { organization_id: 'other' }],
    ['of another month', { month: '2001-01-01' }],
    ['of another amount', { amount: 4 }],
  ] as const)
    it(`finds a charge ${what} than its job and its refund are`, async () => {
      await sql`insert into organization (id, name, slug) values ('other', 'Other', 'other') on conflict do nothing`.execute(database.db);
      const { canceled } = await makeJobs();
      await database.db
        .updateTable('credit_entry')
        .set(change as never)
        .where('key', '=', `job:${canceled}:charge`)
        .execute();
      const ofJob = (await check()).filter(({ job_id }) => job_id === canceled);
      expect(ofJob.map(({ problem }) => problem)).to.have.members(['charge', 'refund_without_charge']);
    });

  it('finds a counter that moved by itself, and one that is missing', async () => {
    await makeJobs();
    await database.db.updateTable('credit_month').set({ used: 7 }).where('organization_id', '=', organizationId).execute();
    expect(await check()).to.deep.equal([{ problem: 'month', job_id: null, expected: 6, found: 7 }]);
    await database.db.deleteFrom('credit_month').where('organization_id', '=', organizationId).execute();
    expect(await check()).to.deep.equal([{ problem: 'month', job_id: null, expected: 6, found: 0 }]);
    await database.db.insertInto('credit_month').values({ organization_id: organizationId, month: '2001-01-01', used: 3 }).execute();
    expect(await check()).to.have.lengthOf(2);
  });

  it('finds a refund of a search without its charge, and none that is right', async () => {
    const charge = () => openCharge(database.db, async () => null, 'search', { organizationId });
    for (const end of [settleCharge, refundCharge]) await end(database.db, 'search', await charge());
    const refunded = await charge();
    for (let i = 0; i < 2; i++) await refundCharge(database.db, 'search', refunded);
    expect(await check()).to.deep.equal([]);
    await database.db.deleteFrom('credit_entry').where('key', '=', `search:${refunded}:charge`).execute();
    expect(await check()).to.have.deep.members([
      { problem: 'refund_without_charge', job_id: null, expected: 0, found: -1 },
      { problem: 'month', job_id: null, expected: 0, found: 1 },
    ]);
  });

  it('leaves out an organization that is being deleted', async () => {
    const { queued, canceled } = await makeJobs();
    await database.db.deleteFrom('credit_entry').where('key', '=', `job:${queued}:charge`).execute();
    await database.db.deleteFrom('credit_entry').where('key', '=', `job:${canceled}:charge`).execute();
    await database.db.insertInto('credit_month').values({ organization_id: organizationId, month: '2001-01-01', used: 3 }).execute();
    expect((await check()).map(({ problem }) => problem)).to.include.members(['charge', 'refund_without_charge', 'month']);
    await database.db.insertInto('organization_deletion').values({ organization_id: organizationId, requested_by: null }).execute();
    expect(await check()).to.deep.equal([]);
    const all = await checkLedger(database.db);
    expect(all.filter((problem) => problem.organization_id === organizationId)).to.deep.equal([]);
  });

  it('reads the entries of all in slices, to the last one', async () => {
    await makeJobs();
    const { key } = await database.db.selectFrom('credit_entry').select('key').orderBy('id', 'desc').executeTakeFirstOrThrow();
    await database.db
      .updateTable('credit_entry')
      .set({ key: `${key}:refund` })
      .where('key', '=', key)
      .execute();
    const found = (await checkLedger(database.db, { sliceSize: 1 })).filter((problem) => problem.organization_id === organizationId);
    expect(found.map(({ problem, found }) => [problem, found])).to.deep.equal([['refund_without_charge', 1]]);
  });

  it('looks at one organization or at all, and answers no more than it is asked for', async () => {
    const { queued } = await makeJobs();
    await database.db.updateTable('job').set({ status: 'failed' }).where('id', '=', queued).execute();
    expect(await checkLedger(database.db, { organizationId: 'another' })).to.deep.equal([]);
    const all = await checkLedger(database.db);
    expect(all.map(({ job_id }) => job_id)).to.include(queued);
    expect(all.length).to.be.greaterThan(1);
    expect(await checkLedger(database.db, { limit: 1 })).to.have.lengthOf(1);
  });
});
