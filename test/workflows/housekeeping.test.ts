import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { sql } from 'kysely';
import { errorsOf } from '../support/jobs.ts';
import { nightly } from '../support/nightly.ts';
import { until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

describe('Housekeeping', () => {
  const { api, tenant } = useApi({ env: { AUDIT_LOG_RETENTION_DAYS: '100' } });

  const run = () =>
    api.temporal.client.workflow.execute('housekeeping', { taskQueue: 'sheaf', workflowId: `housekeeping-${Date.now()}`, args: [] });

  it('is scheduled once a day, as is the comparison with Stripe, the indexes once an hour and the sweep once a minute, without overlap', async () => {
    let schedules: { scheduleId: string }[] = [];
    // The worker makes them when it starts.
    await until(async () => {
      schedules = await Array.fromAsync(api.temporal.client.schedule.list());
      return schedules.length >= 4;
    });
    expect(schedules.map(({ scheduleId }) => scheduleId).sort()).to.deep.equal([
      'housekeeping',
      'reconcile-billing',
      'reconcile-indexes',
      'sweep-jobs',
    ]);
    const described = schedules.map(({ scheduleId }) => api.temporal.client.schedule.getHandle(scheduleId).describe());
    for (const { scheduleId, policies, action } of await Promise.all(described)) {
      const catchupWindow = ['sweep-jobs', 'reconcile-indexes'].includes(scheduleId) ? 60_000 : 12 * 3_600_000;
      expect(policies, scheduleId).to.include({ overlap: 'SKIP', catchupWindow });
      // Without an end, one that no release can replay would hold up all later ones.
      const hours = { 'sweep-jobs': 0.5 }[scheduleId] ?? 72;
      expect(action, scheduleId).to.include({ workflowRunTimeout: hours * 3_600_000 });
    }
  });

  it('reconciles the vector indexes once when the schedule of that is made, and tells why there are none', async () => {
    const { client } = api.temporal;
    const runs = async () => {
      const found = [];
      for await (const run of client.workflow.list({ query: "WorkflowType = 'reconcileIndexes'" })) found.push(run);
      return found;
    };
    await until(async () => (await runs()).some(({ status }) => status.name === 'COMPLETED'));
    const [run] = await runs();
    expect(await client.workflow.getHandle(run?.workflowId ?? '').result()).to.deep.equal({ exact: 'the database has no pgvector' });
    const { spec, info } = await client.schedule.getHandle('reconcile-indexes').describe();
    expect(spec.intervals?.[0]?.every).to.equal(3_600_000);
    // Apart from one of a full hour that has just begun.
    const atOnce = info.recentActions.filter(({ scheduledAt }) => scheduledAt.getTime() % 3_600_000 !== 0);
    expect(atOnce).to.have.lengthOf(1);
  });

  nightly('has its schedule back within minutes if somebody deletes it, without a restart', async () => {
    const handle = api.temporal.client.schedule.getHandle('housekeeping');
    await handle.delete();
    const isThere = () =>
      handle.describe().then(
        () => true,
        () => false,
      );
    expect(await isThere()).to.equal(false);
    await until(isThere, 100_000);
  }).timeout(120_000);

  it('removes what is past its time and nothing else', async () => {
    const { db } = api.database;
    const { organizationId } = tenant;
    const recent = await api.upload(tenant, { bytes: 'kept' });
    const { token } = tenant.owner;
    const begun = await api.request('POST', '/api/v1/documents', {
      token,
      body: { workspaceId: tenant.workspaceId, name: 'abandoned.txt', contentType: 'text/plain', size: 1_000 },
    });
    await fetch(begun.body.upload.url, { method: 'PUT', headers: begun.body.upload.headers, body: 'x' });
    const jobs: string[] = [];
    for (let n = 0; n < 2; n++) {
      const body = { organizationId, kind: 'text.embed', texts: ['a'] };
      const job = await api.request('POST', '/api/v1/jobs', { token, body, headers: { 'idempotency-key': `key-${n}` } });
      await api.jobIn(token, job.body.id, ['succeeded']);
      jobs.push(job.body.id);
    }
    await sql`update document set created_at = now() - interval '25 hours' where id = ${begun.body.document.id}`.execute(db);
    await sql`update job set finished_at = now() - interval '31 days' where id = ${jobs[0]}`.execute(db);
    await sql`update audit_entry set created_at = now() - interval '101 days' where target_id = ${jobs[0]}`.execute(db);
    await sql`update idempotency_key set created_at = now() - interval '25 hours' where key = 'key-0'`.execute(db);
    const guest = await api.signUp();
    await sql`update session set "expiresAt" = now() - interval '1 second' where "userId" = ${guest.id}`.execute(db);
    await sql`insert into verification (id, identifier, value, "expiresAt") values
      ('over', 'a', 'b', now() - interval '1 second'), ('open', 'a', 'b', now() + interval '1 minute')`.execute(db);
    await sql`insert into stripe_event (id, type, created_at) values
      ('old', 'invoice.payment_failed', now() - interval '31 days'), ('kept', 'invoice.payment_failed', now() - interval '29 days')`.execute(
      db,
    );
    await sql`insert into organization (id, name, slug, "createdAt") values ('ownerless', 'Nobody', 'nobody', now())`.execute(db);
    await sql`insert into organization_without_owner (organization_id, user_id, created_at)
      values ('ownerless', ${guest.id}, now() - interval '25 hours')`.execute(db);
    await sql`insert into webhook_delivery (id, organization_id, endpoint_id, event_id, event, data, created_at) values
      ('old', ${organizationId}, 'e', 'old', 'job.failed', '{}', now() - interval '31 days'),
      ('kept', ${organizationId}, 'e', 'kept', 'job.failed', '{}', now() - interval '29 days')`.execute(db);
    await sql`insert into provider_call (organization_id, purpose, purpose_id, role, created_at) values
      (${organizationId}, 'job', 'old', 'chat', now() - interval '401 days'),
      (${organizationId}, 'job', 'kept', 'chat', now() - interval '399 days')`.execute(db);
    const directory = join(api.stack.dataDir, 'objects', organizationId);
    mkdirSync(directory, { recursive: true });
    const old = new Date(Date.now() - 2 * 24 * 60 * 60 * 1_000);
    for (const [name, at] of [
      ['orphan', old],
      ['young', new Date()],
      [recent.id, old],
    ] as const) {
      if (name !== recent.id) writeFileSync(join(directory, name), 'bytes');
      utimesSync(join(directory, name), at, at);
    }

    const result = await run();

    expect(result).to.deep.equal({
      abandonedUploads: 1,
      ownerlessOrganizations: 1,
      finishedJobs: 1,
      auditEntries: 1,
      sessions: 1,
      idempotencyKeys: 1,
      mails: 0,
      orphanedObjects: 1,
      verifications: 1,
      paymentEvents: 1,
      webhookDeliveries: 1,
      sealedSecrets: 0,
      ledgerProblems: 0,
      workspaceRetention: 0,
      providerCalls: 1,
    });
    for (const [table, kept] of Object.entries({ verification: 'open', stripe_event: 'kept', webhook_delivery: 'kept' })) {
      expect((await sql`select id from ${sql.table(table)}`.execute(db)).rows, table).to.deep.equal([{ id: kept }]);
    }
    expect((await sql`select purpose_id from provider_call`.execute(db)).rows).to.deep.equal([{ purpose_id: 'kept' }]);
    await until(() => !readdirSync(directory).some((name) => name === 'orphan' || name === begun.body.document.id));
    await until(async () => (await sql`select from organization where id = 'ownerless'`.execute(db)).rows.length === 0);
    expect(readdirSync(directory).sort()).to.deep.equal([recent.id, 'young'].sort());
    expect((await api.request('GET', `/api/v1/jobs/${jobs[0]}`, { token })).status).to.equal(404);
    expect((await api.request('GET', `/api/v1/jobs/${jobs[1]}`, { token })).status).to.equal(200);
    const workspace = await api.request('GET', `/api/v1/workspaces/main?organizationId=${organizationId}`, { token });
    expect(workspace.body.storage.usedBytes).to.equal(4);
  });

  it('goes on with the other steps if one fails, and says which: here the store belongs to another deployment', async () => {
    const { db } = api.database;
    const marker = join(api.stack.dataDir, 'objects', '.deployment');
    const owner = readFileSync(marker, 'utf8');
    const directory = join(api.stack.dataDir, 'objects', tenant.organizationId);
    const old = new Date(Date.now() - 2 * 24 * 60 * 60 * 1_000);
    writeFileSync(join(directory, 'stray'), 'bytes');
    utimesSync(join(directory, 'stray'), old, old);
    writeFileSync(marker, 'another');
    await sql`insert into stripe_event (id, type, created_at) values ('late', 'invoice.paid', now() - interval '31 days')`.execute(db);

    const failure = await run().catch((error) => error);

    expect(failure.cause.type).to.equal('HousekeepingIncomplete');
    expect(failure.cause.message)
      .to.match(/^orphanedObjects: The store .* belongs to deployment another/)
      .and.to.include(owner);
    expect((await sql`select from stripe_event where id = 'late'`.execute(db)).rows).to.deep.equal([]);
    expect(readdirSync(directory)).to.include('stray');
    expect(errorsOf(api, 'api', ['the sweep of orphaned objects has stopped, and deletes nothing'])).to.deep.equal([]);
    writeFileSync(marker, owner);
    expect(await run()).to.include({ orphanedObjects: 1 });
  });

  it('counts the problems of the ledger, and logs the first', async () => {
    const { db } = api.database;
    const count = (by: number) => sql`update credit_month set used = used + ${by}`.execute(db);
    await count(1);
    expect(await run()).to.include({ ledgerProblems: 1 });
    expect(api.stack.readLog('api')).to.include('the ledger is off');
    await count(-1);
  });

  it('finds nothing to do the second time', async () => {
    expect(new Set(Object.values((await run()) as object))).to.deep.equal(new Set([0]));
  });
});
