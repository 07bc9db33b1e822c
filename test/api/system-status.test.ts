import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { migrations } from '../../db/migrations/index.ts';
import { noteDown } from '../../domain/outages/note-down.ts';
import type { Tenant, TestUser } from '../support/api.ts';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';
import { billingOn } from './auth/support/service.ts';

describe('System status', () => {
  const { api } = useApi({
    env: { NODE_ENV: 'development', WORKER_ENABLED: 'false', WORKER_CONCURRENCY: '7', EMAIL_FROM: 'Ops <ops@example.com>' },
  });
  let admin: TestUser;
  let tenant: Tenant;
  before(async () => {
    [admin, tenant] = await Promise.all([api.signUp('Admin'), api.createTenant()]);
    await api.makePlatformAdmin(admin);
  });

  const status = async () => (await callOver(api, 'REST', 'admin.system.status', {}, { token: admin.token })).body;

  it('tells what runs, since when, and how it is configured', async () => {
    const body = await status();
    expect(body).to.deep.include({
      version: '0.3.0',
      environment: 'development',
      runtime: `Node.js ${process.versions.node}`,
      storage: { driver: 'local', location: `${api.stack.dataDir}/objects`, maxUploadBytes: 26_214_400 },
      billing: { enabled: false, unpricedPlans: [] },
      email: { provider: 'mailbox', from: 'Ops <ops@example.com>' },
      auth: { socialProviders: [], requireEmailVerification: false },
    });
    expect(body.uptimeSeconds).to.be.a('number').and.satisfy(Number.isInteger);
    expect(Math.abs(Date.now() - body.uptimeSeconds * 1_000 - Date.parse(body.startedAt))).to.be.below(5_000);
    expect((await status()).startedAt).to.equal(body.startedAt);
  });

  it('measures the database and compares its migrations', async () => {
    const names = Object.keys(migrations);
    const { database } = await status();
    expect(database.latencyMs).to.be.a('number').and.to.be.within(0, 3_000);
    expect({ ...database, latencyMs: 0 }).to.deep.equal({
      ok: true,
      latencyMs: 0,
      error: null,
      migrations: { shipped: names.length, applied: names.length, pending: [], unknown: 0, latestApplied: names.at(-1) },
    });
    const { pool } = api.database;
    await pool.query(`insert into kysely_migration (name, timestamp) values ('9999-later', now()::text)`);
    expect((await status()).database.migrations).to.deep.include({ applied: names.length + 1, unknown: 1, latestApplied: '9999-later' });
    await pool.query(`delete from kysely_migration where name in ('9999-later', $1)`, [names.at(-1)]);
    expect((await status()).database.migrations).to.deep.include({
      pending: [names.at(-1)],
      unknown: 0,
      latestApplied: names.at(-2) ?? null,
    });
    await pool.query(`insert into kysely_migration (name, timestamp) values ($1, now()::text)`, [names.at(-1)]);
  });

  it('names what is stuck, and where the workflows of jobs are seen', async () => {
    const stuck = async () => (await callOver(api, 'REST', 'admin.system.stuck', {}, admin)).body;
    const { namespace } = api.temporal;
    expect(await stuck()).to.deep.equal({ items: [], jobWorkflowUrl: `http://localhost:8233/namespaces/${namespace}/workflows/job-` });
    const { organizationId, workspaceId, owner } = tenant;
    const body = { kind: 'text.summarize', organizationId, workspaceId, text: 'One. Two.' };
    const { body: job } = await api.request('POST', '/api/v1/jobs', { token: owner.token, body });
    await api.database.pool.query(`update job set created_at = now() - interval '10 minutes' where id = $1`, [job.id]);
    const { items } = await stuck();
    expect(items).to.have.length(1);
    expect(items[0]).to.deep.include({ what: 'queued job', id: job.id, organizationId });
    expect(items[0].reason).to.include('worker');
    expect(items[0].ageSeconds).to.be.within(600, 700);
    await api.request('POST', `/api/v1/jobs/${job.id}/cancel`, { token: owner.token });
  });

  it('names what is down and how many jobs wait for it, and ends it by hand', async () => {
    const { db, pool } = api.database;
    const call = (operation: string, input = {}) => callOver(api, 'REST', operation, input, admin);
    expect((await call('admin.system.outages')).body).to.deep.equal({ items: [] });
    const { organizationId, workspaceId, owner } = tenant;
    const body = { kind: 'text.summarize', organizationId, workspaceId, text: 'One. Two.' };
    const { body: job } = await api.request('POST', '/api/v1/jobs', { token: owner.token, body });
    await noteDown(db, { part: 'chat', cause: 'quota' }, { isProbe: false, probeDelaysMs: [3_600_000] });
    await pool.query(
      `update job set waits_for = 'chat', waiting_since = now(), next_attempt_at = now() + interval '1 hour' where id = $1`,
      [job.id],
    );
    const [outage] = (await call('admin.system.outages')).body.items;
    expect(outage).to.include({ part: 'chat', cause: 'quota', waiting: 1 });
    expect(Date.parse(outage.nextProbeAt) - Date.parse(outage.since)).to.be.within(3_590_000, 3_610_000);

    expect((await call('admin.system.endOutage', { part: 'embed' })).status).to.equal(404);
    expect((await call('admin.system.endOutage', { part: 'chat' })).body).to.deep.equal({ part: 'chat' });
    expect((await call('admin.system.outages')).body).to.deep.equal({ items: [] });
    const { rows } = await pool.query('select next_attempt_at <= now() as due from job where id = $1', [job.id]);
    expect(rows).to.deep.equal([{ due: true }]);
    await api.request('POST', `/api/v1/jobs/${job.id}/cancel`, { token: owner.token });
  });

  it('counts users, organizations, workspaces and live subscriptions', async () => {
    const before = (await status()).counts;
    const own = await api.createTenant();
    const subscription = (id: string, state: string) => ({
      id,
      plan: 'pro',
      referenceId: own.organizationId,
      status: state,
      stripeSubscriptionId: id,
    });
    await api.database.db
      .insertInto('subscription')
      .values([subscription('live', 'active'), subscription('over', 'canceled')] as never)
      .execute();
    expect((await status()).counts).to.deep.equal({
      users: before.users + 1,
      organizations: before.organizations + 1,
      workspaces: before.workspaces + 1,
      subscriptions: before.subscriptions + 1,
    });
  });

  it('measures the queue from the jobs', async () => {
    const { owner, organizationId } = tenant;
    const empty = { configured: true, worker: 'off', concurrency: 7, depth: 0, running: 0, failed: 0, oldestQueuedAt: null };
    expect((await status()).queue).to.deep.equal(empty);
    const jobs: { id: string; createdAt: string }[] = [];
    for (let i = 0; i < 4; i++) {
      const { body } = await callOver(api, 'REST', 'jobs.create', { kind: 'text.embed', organizationId, texts: ['a'] }, owner);
      jobs.push(body);
    }
    const { db } = api.database;
    for (const [index, state] of (['running', 'failed'] as const).entries()) {
      await db
        .updateTable('job')
        .set({ status: state })
        .where('id', '=', jobs[index]?.id ?? '')
        .execute();
    }
    expect((await status()).queue).to.deep.equal({ ...empty, depth: 2, running: 1, failed: 1, oldestQueuedAt: jobs[2]?.createdAt });
  });

  it('says what the AI service reports of itself', async () => {
    const { ai } = await status();
    expect(ai.latencyMs).to.be.a('number');
    expect(ai).to.deep.include({ ok: true, error: null, problems: [], provider: 'local' });
    expect(ai.ocr).to.be.a('string');
    expect(ai.url).to.equal(api.stack.aiUrl);
  });
});

describe('System status of a deployment in trouble', () => {
  const problems = ['Nobody checks the token.', 'The OCR backend cannot run.'];
  const embeddings = [{ model: 'remote', dimensions: null, chunk_characters: 1_200, texts_per_call: 100 }];
  const ai = createServer((_req, res) => {
    res.setHeader('content-type', 'application/json');
    res.end(JSON.stringify({ ok: false, provider: 'remote', ocr: 'none', auth: 'disabled', problems, embeddings }));
  });
  let admin: TestUser;
  const { STRIPE_PRICE_TEAM: _, ...priced } = billingOn;
  const { api } = useApi({
    async env() {
      await new Promise<void>((resolve) => ai.listen(0, '127.0.0.1', resolve));
      return {
        ...priced,
        AI_SERVICE_URL: `http://127.0.0.1:${(ai.address() as AddressInfo).port}`,
        PROVIDER_A_ISSUER: 'https://id.example.com',
        PROVIDER_A_CLIENT_ID: 'a',
        PROVIDER_A_CLIENT_SECRET: 'b',
      };
    },
  });
  before(async () => {
    admin = await api.signUp('Admin');
    await api.makePlatformAdmin(admin);
  });
  after(() => {
    ai.closeAllConnections();
    ai.close();
  });

  it('tells the problems of the AI service, plans without a price, and the worker inside', async () => {
    const { body } = await callOver(api, 'REST', 'admin.system.status', {}, admin);
    expect(body.ai).to.deep.include({ ok: false, error: null, problems, provider: 'remote', ocr: 'none' });
    expect(body.billing).to.deep.equal({ enabled: true, unpricedPlans: ['team'] });
    expect(body.auth.socialProviders).to.deep.equal(['provider_a']);
    expect(body.queue.worker).to.equal('inline');
  });

  it('tells that the AI service does not answer, and answers all the same', async () => {
    ai.closeAllConnections();
    await new Promise((resolve) => ai.close(resolve));
    const { status, body } = await callOver(api, 'REST', 'admin.system.status', {}, admin);
    expect(status).to.equal(200);
    expect(body.ai).to.deep.include({
      ok: false,
      latencyMs: null,
      error: 'The AI service cannot be reached.',
      problems: [],
      provider: null,
      ocr: null,
    });
    expect(body.database.ok).to.equal(true);
  });

  it('tells what of the database does not answer, and answers all the same', async () => {
    const { pool } = api.database;
    await pool.query('alter table job rename to job_away');
    const { body } = await callOver(api, 'REST', 'admin.system.status', {}, admin);
    await pool.query('alter table job_away rename to job');
    expect(body.database).to.deep.equal({ ok: false, latencyMs: null, error: 'relation "job" does not exist', migrations: null });
    expect(body.queue).to.deep.include({ depth: null, running: null, failed: null, oldestQueuedAt: null });
  });
});
