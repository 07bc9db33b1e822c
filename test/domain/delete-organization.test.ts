import { expect } from 'chai';
import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import { chargeCredits } from '../../domain/credits/ledger.ts';
import { openCharge } from '../../domain/credits/open-charge.ts';
import { claimJob } from '../../domain/jobs/claim-job.ts';
import { insertJob } from '../../domain/jobs/create-job.ts';
import { lockUnfinishedJobs } from '../../domain/locks.ts';
import { deleteOrganizationRows, endOrganizationJobs } from '../../domain/organizations/delete-organization.ts';
import { insertWorkspaceOfChunks } from '../support/chunks.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { outageTimes } from '../support/outage-times.ts';

const options = () => ({ onProgress: () => {}, signal: new AbortController().signal });

describe('The deletion of an organization', () => {
  let database: TestDatabase;
  let db: Db;
  let jobs: Record<'queued' | 'running' | 'canceled', string>;

  beforeEach(async () => {
    // One after another: what is sent while a statement runs comes before its next one.
    database = await createTestDatabase({ poolSize: 1 });
    db = database.db;
    jobs = await makeOrganization('ours');
    await makeOrganization('theirs');
  });
  afterEach(() => database.drop());

  /** An organization that has something of everything, also a workspace that is being drained. */
  async function makeOrganization(id: string) {
    await insertWorkspaceOfChunks(db, id, [{ model: 'm', vector: [1, 0] }]);
    await db
      .insertInto('workspace')
      .values({ id: `${id}-gone`, organization_id: id, name: 'Gone', slug: 'gone' })
      .execute();
    const gone = { id: `${id}-gone`, organization_id: id, workspace_id: `${id}-gone`, object_key: `${id}-gone` };
    await db
      .insertInto('document')
      .values({ ...gone, name: 'a', content_type: 'text/plain', size_bytes: 1, status: 'ready' })
      .execute();
    await db.deleteFrom('workspace').where('id', '=', `${id}-gone`).execute();
    await db
      .insertInto('workspace_deletion')
      .values({ workspace_id: `${id}-gone`, organization_id: id, requested_by: null })
      .execute();
    await sql`insert into subscription (id, plan, "referenceId", status) values (${id}, 'pro', ${id}, 'canceled')`.execute(db);
    await sql`insert into "user" (id, name, email, "emailVerified") values (${id}, ${id}, ${`${id}@example.com`}, true)`.execute(db);
    await sql`
      insert into session (id, token, "userId", "expiresAt", "createdAt", "updatedAt", "activeOrganizationId")
      values (${id}, ${id}, ${id}, now() + interval '1 day', now(), now(), ${id})
    `.execute(db);
    const response = JSON.stringify({ organizationId: id, sentences: [{ text: 'A quote.' }] });
    await db
      .insertInto('idempotency_key')
      .values({ user_id: id, operation: 'documents.ask', key: 'k', request_hash: 'h', response })
      .execute();
    const made = { queued: await makeJob(id), running: await makeJob(id), canceled: await makeJob(id) };
    await claimJob(db, made.running, 'an attempt', outageTimes);
    await db.updateTable('job').set({ status: 'canceled', finished_at: new Date() }).where('id', '=', made.canceled).execute();
    const search = { organizationId: id, key: `search:${id}:charge`, credits: 1, jobId: null, reason: 'documents.search' };
    await inTransaction(db, (trx) => chargeCredits(trx, search, null));
    return made;
  }

  const makeJob = async (organizationId: string) => {
    const job = { organizationId, workspaceId: organizationId, documentId: null, input: {}, maxAttempts: 4, createdBy: null };
    return (await inTransaction(db, (trx) => insertJob(trx, { ...job, kind: 'text.summarize' }, null))).id;
  };

  const storedResponses = async () => (await db.selectFrom('idempotency_key').select('user_id').execute()).map(({ user_id }) => user_id);

  /** Every row that names an organization, but for those that outlive it. */
  async function rowsOf(organizationId: string): Promise<Record<string, unknown[]>> {
    const { rows: columns } = await sql<{ table: string; column: string }>`
      select table_name as table, column_name as column from information_schema.columns join information_schema.tables using (table_name)
      where table_type = 'BASE TABLE' and tables.table_schema = 'public' and table_name not in ('audit_entry', 'outbox')
        and column_name in ('organization_id', 'organizationId', 'referenceId', 'activeOrganizationId')
      order by 1, 2
    `.execute(db);
    const found: Record<string, unknown[]> = {};
    for (const { table, column } of columns) {
      const { rows } = await sql`
        select to_jsonb(each) as row from ${sql.table(table)} as each where ${sql.ref(column)} = ${organizationId} order by 1
      `.execute(db);
      if (rows.length > 0) found[table] = rows;
    }
    return found;
  }

  const told = async () =>
    (
      await db
        .selectFrom('outbox')
        .select(sql<string>`intent->>'workflowId'`.as('id'))
        .where(sql<boolean>`intent->>'signal' is not null`)
        .orderBy('id')
        .execute()
    ).map(({ id }) => id);

  it('deletes all that it has, and leaves every row of another as it was', async () => {
    const before = await rowsOf('theirs');
    expect(before).to.include.all.keys('chunk', 'credit_entry', 'credit_month', 'document', 'job', 'session', 'subscription', 'workspace');

    await endOrganizationJobs(db, 'ours', options());
    let deleted = 0;
    const onProgress = (rows: number) => {
      deleted = rows;
    };
    await deleteOrganizationRows(db, 'ours', { ...options(), onProgress });

    // Two documents, three jobs, the search and a stored response: what may be many is left to no cascade.
    expect(deleted).to.equal(7);
    expect(await storedResponses()).to.deep.equal(['theirs']);
    // Links to its objects work for a while.
    expect(await rowsOf('ours')).to.have.all.keys('late_upload');
    expect(await rowsOf('theirs')).to.deep.equal(before);
    expect(await db.selectFrom('session').select('id').orderBy('id').execute()).to.deep.equal([{ id: 'ours' }, { id: 'theirs' }]);
  });

  it('fails its unfinished jobs, gives their credits back and tells their workflows', async () => {
    await endOrganizationJobs(db, 'ours', options());
    const rows = await db.selectFrom('job').select(['id', 'status']).where('organization_id', '=', 'ours').execute();
    expect(Object.fromEntries(rows.map(({ id, status }) => [id, status]))).to.deep.equal({
      [jobs.queued]: 'failed',
      [jobs.running]: 'failed',
      [jobs.canceled]: 'canceled',
    });
    const months = await db.selectFrom('credit_month').select('used').where('organization_id', '=', 'ours').execute();
    // The canceled job and the search.
    expect(months).to.deep.equal([{ used: 6 }]);
    expect(await told()).to.have.members([jobs.queued, jobs.running].map((id) => `job-${id}`));
  });

  it('lets no more searches be charged', async () => {
    await db.insertInto('organization_deletion').values({ organization_id: 'ours', requested_by: null }).execute();
    const refusal = await openCharge(db, async () => null, 'search', { organizationId: 'ours' }).catch((error) => error);
    expect(refusal).to.include({ code: 'NOT_FOUND' });
    expect(await db.selectFrom('open_search').select('id').execute()).to.deep.equal([]);
  });

  it('leaves a job as it is that has ended since it was listed', async () => {
    const locked = await inTransaction(db, (trx) => lockUnfinishedJobs(trx, Object.values(jobs)));
    expect(locked.map(({ id }) => id)).to.have.members([jobs.queued, jobs.running]);
  });

  it('also fails a job whose attempt fails while the queued ones are ended', async () => {
    let reports = 0;
    const onProgress = () => {
      reports += 1;
      // The queued ones are ended, and the running ones are not listed yet.
      if (reports === 2) void db.updateTable('job').set({ status: 'queued', claimed_by: null }).where('id', '=', jobs.running).execute();
    };
    await endOrganizationJobs(db, 'ours', { ...options(), onProgress });
    const left = await db.selectFrom('job').select('id').where('organization_id', '=', 'ours').where('status', '<>', 'failed').execute();
    expect(left).to.deep.equal([{ id: jobs.canceled }]);
  });
});
