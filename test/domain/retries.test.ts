import { expect } from 'chai';
import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import { systemActor } from '../../domain/audit.ts';
import { insertJob } from '../../domain/jobs/create-job.ts';
import { replayJob } from '../../domain/jobs/replay-jobs.ts';
import { retryJob } from '../../domain/jobs/retry-job.ts';
import { lockWorkspace } from '../../domain/locks.ts';
import { insertWorkspaceOfChunks } from '../support/chunks.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/processes.ts';

const noPlan = async () => null;

describe('A retry of a failed job', () => {
  let database: TestDatabase;
  let db: Db;
  let id: string;
  beforeEach(async () => {
    database = await createTestDatabase();
    db = database.db;
    await insertWorkspaceOfChunks(db, 'one', []);
    const place = { organizationId: 'one', workspaceId: 'one', documentId: null };
    const job = { ...place, kind: 'text.embed' as const, input: { texts: ['a'] }, maxAttempts: 4, createdBy: null };
    id = (await inTransaction(db, (trx) => insertJob(trx, job, null))).id;
    await db.updateTable('job').set({ status: 'failed', finished_at: new Date() }).where('id', '=', id).execute();
  });
  afterEach(() => database.drop());

  const retry = () =>
    inTransaction(db, (trx) => retryJob(trx, noPlan, systemActor, { id, organization_id: 'one' })).catch((error: unknown) => error);
  const countJobs = async () => (await db.selectFrom('job').select('id').execute()).length;

  it('is made and charged once by a replay, however often that asks', async () => {
    expect(await replayJob(db, noPlan, id, 'run')).to.deep.equal({ retried: true });
    expect(await replayJob(db, noPlan, id, 'run')).to.deep.equal({ retried: false, reason: 'already_retried' });
    expect(await countJobs()).to.equal(2);
    expect(await db.selectFrom('credit_entry').select('id').execute()).to.have.lengthOf(2);
  });

  it('is refused while the organization is being deleted', async () => {
    await db.insertInto('organization_deletion').values({ organization_id: 'one', requested_by: null }).execute();
    expect(await retry()).to.include({ code: 'NOT_FOUND' });
    expect(await countJobs()).to.equal(1);
  });

  it('is made without its workspace if that is gone, unless the job failed because of that', async () => {
    await db.deleteFrom('workspace').where('id', '=', 'one').execute();
    expect(await retry()).to.include({ status: 'queued', workspace_id: null, retry_of: id });
    await db.updateTable('job').set({ error_code: 'workspace_missing' }).where('id', '=', id).execute();
    expect(await retry()).to.include({ code: 'NOT_FOUND' });
    expect(await countJobs()).to.equal(2);
  });

  it('is refused if its workspace is deleted just then', async () => {
    let retrying: Promise<unknown> | undefined;
    await inTransaction(db, async (trx) => {
      await lockWorkspace(trx, 'one', 'delete');
      retrying = retry();
      await until(async () => {
        const { rows } = await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
          db,
        );
        return rows.length > 0;
      });
      await trx.deleteFrom('workspace').where('id', '=', 'one').execute();
    });
    expect(await retrying).to.include({ code: 'NOT_FOUND' });
    expect(await countJobs()).to.equal(1);
  });
});
