import { expect } from 'chai';
import { sql } from 'kysely';
import { routes } from '../../contract/index.ts';
import { inTransaction } from '../../db/transaction.ts';
import { systemActor } from '../../domain/audit.ts';
import { claimJob } from '../../domain/jobs/claim-job.ts';
import { jobStateOf } from '../../domain/jobs/job.ts';
import { setReadOnly } from '../../domain/platform/read-only.ts';
import { createRows, inputsFor } from '../contract/support/rows.ts';
import { createKey } from '../support/api-keys.ts';
import { listAuthEndpoints } from '../support/auth-endpoints.ts';
import { nightly } from '../support/nightly.ts';
import { runOps } from '../support/ops.ts';
import { until } from '../support/processes.ts';
import { expectOk } from '../support/requests.ts';
import { staysTrue } from '../support/stays-true.ts';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';

const reason = 'The database moves.';
const message = `This deployment is read-only: ${reason}`;

describe('A read-only deployment', () => {
  const { api, tenant } = useApi({ env: { CONTACT_EMAIL: 'operator@example.com' } });
  const runReadOnly = (...args: string[]) => {
    const { DATABASE_URL, TEMPORAL_ADDRESS, DATA_DIR } = api.stack.env;
    return runOps(['read-only', ...args], { DATABASE_URL, TEMPORAL_ADDRESS, DATA_DIR });
  };
  const ops = async (...args: string[]) => expect((await runReadOnly(...args)).code).to.equal(0);
  const switchTo = (to: string | null) => inTransaction(api.database.db, (trx) => setReadOnly(trx, systemActor, to));
  afterEach(async () => {
    await api.database.db.updateTable('deployment').set({ read_only: null }).execute();
    await api.database.db.deleteFrom('provider_outage').execute();
  });

  it('refuses every operation that writes, with the reason', async () => {
    const rows = await createRows(api);
    const admin = await api.signUp('Admin');
    await api.makePlatformAdmin(admin);
    await api.database.db.updateTable('deployment').set({ read_only: reason }).execute();
    const writing = routes.filter(({ method, metadata }) => method !== 'GET' && !/search|ask/.test(metadata.operation));
    for (const route of writing)
      for (const input of inputsFor(route, rows)) {
        const { operation, access } = route.metadata;
        const token = access === 'platform-admin' ? admin.token : rows.tenant.owner.token;
        const { status, body, headers } = await callOver(api, 'REST', operation, input, { token });
        expect(status, `${operation}: ${JSON.stringify(body)}`).to.equal(503);
        expect(body).to.deep.include({ code: 'SERVICE_UNAVAILABLE', message, data: { readOnly: reason } });
        expect(headers.get('retry-after')).to.equal('60');
      }
  });

  it('is read, and lets nobody sign in, until it takes writes again', async () => {
    const { token } = tenant.owner;
    const { id } = await api.upload(tenant, { bytes: 'A text.' });
    const key = await createKey(api, tenant);
    await ops('--reason', reason);
    for (const each of [token, key.token])
      expect((await api.request('GET', `/api/v1/documents/${id}`, { token: each })).status).to.equal(200);
    expect((await api.request('GET', '/api/auth/get-session', { token })).status).to.equal(200);
    const body = { email: 'ada@example.com', password: 'a long password', name: 'Ada' };
    expect((await api.request('POST', '/api/auth/sign-up/email', { body })).body).to.include({ code: 'SERVICE_UNAVAILABLE', message });
    const links = listAuthEndpoints().flatMap(({ name }) => /^GET (.*)/.exec(name)?.[1] ?? []);
    const only = /\/(get|list)\b|^\/(ok|error|account-info|reset-password\/:token)$/;
    for (const path of links) {
      const { status } = await api.request('GET', `/api/auth${path.replace(':', 'any-')}?token=a`, { token });
      expect([path, status === 503]).to.deep.equal([path, !only.test(path)]);
    }
    await ops('--off');
    const again = await runReadOnly('--off');
    expect([again.code, again.stdout, again.stderr]).to.deep.equal([1, '', 'The deployment is not read-only.\n']);
    expect((await api.request('POST', '/api/auth/sign-up/email', { body })).status).to.equal(200);
    const entries = await api.database.db
      .selectFrom('audit_entry')
      .select(['action', 'metadata'])
      .where('target_type', '=', 'deployment')
      .orderBy('id')
      .execute();
    expect(entries).to.deep.equal([
      { action: 'deployment.readOnly', metadata: { reason } },
      { action: 'deployment.writable', metadata: { reason: null } },
    ]);
  });

  it('has a job look again twice a minute, and counts no time in which it waits for a provider', async () => {
    const { db } = api.database;
    const { organizationId } = tenant;
    await db
      .insertInto('provider_outage')
      .values({ part: 'embed', cause: 'failing', next_probe_at: sql`now() + interval '1 hour'` })
      .execute();
    await sql`insert into job (id, organization_id, kind, input, max_attempts, credits, credit_month, waits_for, waiting_since, next_attempt_at)
      values ('waiting', ${organizationId}, 'text.embed', '{}', 4, 0, now(), 'embed', now() - interval '2 hours', now())`.execute(db);
    const times = { longestWaitMs: 3_600_000, slotMs: 1_000, leaseMs: 1_000, probeDelaysMs: [1_000] };
    const claim = () => claimJob(db, 'waiting', 'an attempt', times);
    await switchTo(reason);
    const inside = await claim();
    expect(inside).to.include({ claimed: false, waits: true });
    expect(await jobStateOf(db, inside.job)).to.deep.equal({ status: 'queued', delayMs: 30_000, waitsFor: 'embed' });
    await switchTo(null);
    const after = await claim();
    expect(after).to.include({ claimed: false, waits: true });
    expect(after.job).to.include({ status: 'queued', waits_for: 'embed' });
    await switchTo(null);
    expect((await claim()).job?.waiting_since, 'a second end').to.deep.equal(after.job?.waiting_since);
    await db.deleteFrom('job').where('id', '=', 'waiting').execute();
  });

  nightly('begins no attempt and no other work, which go on afterwards', async () => {
    const { owner, organizationId } = tenant;
    const create = async () => {
      const body = { kind: 'text.embed', organizationId, texts: ['a'] };
      return (await expectOk(api.request('POST', '/api/v1/jobs', { token: owner.token, body }))).body.id as string;
    };
    await api.jobIn(owner.token, await create(), ['succeeded']);
    // Queued as if they had been queued just before.
    const state = async (id: string) => (await api.request('GET', `/api/v1/jobs/${id}`, { token: owner.token })).body;
    const { workflow } = api.temporal.client;
    const { db } = api.database;
    await db.updateTable('deployment').set({ read_only: reason }).execute();
    const id = 'queued';
    await sql`insert into job (id, organization_id, kind, input, max_attempts, credits, credit_month)
      select ${id}, organization_id, kind, input, max_attempts, 0, credit_month from job where organization_id = ${organizationId} limit 1`.execute(
      db,
    );
    const input = { jobId: id, kind: 'text.embed', timeoutMs: 60_000, firstDelayMs: 100, longestDelayMs: 100, maxAttempts: 4 };
    await workflow.start('runJob', { taskQueue: 'sheaf', workflowId: `job-${id}`, args: [input] });
    const sweep = await workflow.start('sweepJobs', { taskQueue: 'sheaf', workflowId: 'sweep', args: [] });
    await until(async () =>
      ((await sweep.describe()).raw.pendingActivities ?? []).some(({ lastFailure }) => lastFailure?.message?.includes('read-only')),
    );
    await staysTrue(async () => {
      const { status, attempts } = await state(id);
      return status === 'queued' && attempts === 0;
    }, 2_000);
    await switchTo(null);
    await api.jobIn(owner.token, id, ['succeeded'], 60_000);
    expect((await state(id)).attempts).to.equal(1);
    await sweep.result();
  }).timeout(120_000);
});
