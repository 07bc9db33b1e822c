import { expect } from 'chai';
import type { Db } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import { systemActor } from '../../domain/audit.ts';
import { type OpenPurpose, openCharge, refundCharge } from '../../domain/credits/open-charge.ts';
import { cancelJob } from '../../domain/jobs/cancel-job.ts';
import { insertJob } from '../../domain/jobs/create-job.ts';
import { releaseWorkspaceJobs } from '../../domain/jobs/release-workspace-jobs.ts';
import { insertWorkspaceOfChunks } from '../support/chunks.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const organizations = ['ours', 'theirs'];

describe('A refund', () => {
  let database: TestDatabase;
  let db: Db;
  before(async () => {
    database = await createTestDatabase();
    db = database.db;
    for (const id of organizations) await insertWorkspaceOfChunks(db, id, []);
  });
  after(() => database.drop());

  async function createJob(organizationId: string): Promise<string> {
    const place = { organizationId, workspaceId: organizationId, documentId: null };
    const job = { ...place, kind: 'text.summarize' as const, input: {}, maxAttempts: 4, createdBy: null };
    return (await inTransaction(db, (trx) => insertJob(trx, job, null))).id;
  }

  /** What each organization has used, in a month that is over and in the current one. */
  async function used(): Promise<Record<string, number[]>> {
    const rows = await db.selectFrom('credit_month').select(['organization_id', 'used']).orderBy('month').execute();
    const byOrganization = Map.groupBy(rows, ({ organization_id }) => organization_id);
    return Object.fromEntries([...byOrganization].map(([id, months]) => [id, months.map((month) => month.used)]));
  }

  const ofRequest = (purpose: OpenPurpose) => ({
    charge: (organizationId: string) => openCharge(db, async () => null, purpose, { organizationId }),
    refund: (id: string) => refundCharge(db, purpose, id),
  });
  const ways: Record<string, { charge: (organizationId: string) => Promise<string>; refund: (id: string) => Promise<unknown> }> = {
    'of a job': { charge: createJob, refund: (id) => inTransaction(db, (trx) => cancelJob(trx, systemActor, id)) },
    'of the jobs of a workspace': {
      charge: createJob,
      refund: () => inTransaction(db, (trx) => releaseWorkspaceJobs(trx, 'ours', { limit: 10 })),
    },
    'of a search': ofRequest('search'),
    'of an answer': ofRequest('answer'),
  };

  for (const [what, { charge, refund }] of Object.entries(ways))
    it(`${what} changes the month of the charge alone, and of its organization alone`, async () => {
      await db.deleteFrom('credit_month').execute();
      const over = organizations.map((id) => ({ organization_id: id, month: '2001-01-01', used: 7 }));
      await db.insertInto('credit_month').values(over).execute();
      const [id = ''] = [await charge('ours'), await charge('theirs')];
      const before = await used();
      expect(before.ours).to.have.lengthOf(2);

      await refund(id);

      expect(await used()).to.deep.equal({ ...before, ours: [7, 0] });
    });
});
