import { expect } from 'chai';
import { sql } from 'kysely';
import { inTransaction } from '../../db/transaction.ts';
import { insertJob } from '../../domain/jobs/create-job.ts';
import type { Tenant } from '../support/api.ts';
import { until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

const backlog = 2_000;

describe('Fairness between organizations', () => {
  const { api } = useApi({ process: true, services: ['api', 'worker'], env: { WORKER_CONCURRENCY: '2' } });
  let large: Tenant;
  let small: Tenant;

  before(async () => {
    [large, small] = await Promise.all([api.createTenant(), api.createTenant()]);
  });

  /** Queues jobs as `jobs.create` does, without its requests: the relay has their intents. */
  async function queue({ organizationId, owner }: Tenant, jobs: number): Promise<void> {
    const job = {
      organizationId,
      workspaceId: null,
      documentId: null,
      kind: 'text.embed',
      input: { texts: ['a'] },
      maxAttempts: 4,
    } as const;
    const { db } = api.database;
    await inTransaction(db, async (trx) => {
      for (let n = 0; n < jobs; n++) await insertJob(trx, { ...job, createdBy: owner.id }, null);
    });
  }

  const untilTaken = () =>
    until(async () => (await api.database.db.selectFrom('outbox').select('id').limit(1).execute()).length === 0, 120_000);

  it(`starts a tenant's single job among the next few while another tenant has ${backlog} queued`, async () => {
    const { db } = api.database;
    await api.stack.kill('worker');
    await queue(large, backlog);
    await untilTaken();
    await api.stack.start('worker');
    await until(async () => (await count(large, 'queued')) < backlog);
    const body = { organizationId: small.organizationId, kind: 'text.embed', texts: ['a'] };
    const { token } = small.owner;
    const single = (await api.request('POST', '/api/v1/jobs', { token, body })).body;
    const done = await api.jobIn(token, single.id, ['succeeded'], 60_000);
    const startedBetween = await db
      .selectFrom('job')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('organization_id', '=', large.organizationId)
      .where('started_at', '>', new Date(single.createdAt))
      .where('started_at', '<', new Date(done.startedAt))
      .executeTakeFirstOrThrow();
    expect(startedBetween.count).to.be.below(backlog / 40);
    expect(await count(large, 'queued'), 'the backlog is still there').to.be.above(backlog / 2);
  }).timeout(240_000);

  it("begins a tenant's single job within seconds beside 1,000 of another whose workflows are not even started", async () => {
    const { db } = api.database;
    await db.deleteFrom('outbox').execute();
    const quiet = await api.createTenant();
    await queue(large, 1_000);
    await queue(quiet, 1);
    // Nobody in this process sends them, so that the writer's leases are of no use.
    await db.updateTable('outbox').set({ lease_until: null }).execute();
    const started = () =>
      db
        .selectFrom('job')
        .select(sql<number>`extract(epoch from started_at - created_at)::float8`.as('seconds'))
        .where('organization_id', '=', quiet.organizationId)
        .executeTakeFirstOrThrow();
    await until(async () => (await started()).seconds !== null);
    expect((await started()).seconds).to.be.below(6);
    expect(await count(large, 'queued'), 'the backlog is still there').to.be.above(500);
  }).timeout(120_000);

  async function count(tenant: Tenant, status: 'queued'): Promise<number> {
    const row = await api.database.db
      .selectFrom('job')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('organization_id', '=', tenant.organizationId)
      .where('status', '=', status)
      .executeTakeFirstOrThrow();
    return row.count;
  }
});
