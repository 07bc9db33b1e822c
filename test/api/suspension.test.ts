import { expect } from 'chai';
import { routes } from '../../contract/index.ts';
import { inTransaction } from '../../db/transaction.ts';
import { systemActor } from '../../domain/audit.ts';
import { sweepQueuedJobs } from '../../domain/jobs/sweep-jobs.ts';
import { liftSuspension, suspendOrganization } from '../../domain/organizations/suspend-organization.ts';
import { noteDown } from '../../domain/outages/note-down.ts';
import { endOutage } from '../../domain/outages/note-up.ts';
import { releaseWaiting } from '../../domain/outages/release-waiting.ts';
import { webhooksOn } from '../adapters/webhooks/support.ts';
import { createRows, inputsFor, type TenantRows } from '../contract/support/rows.ts';
import type { Tenant, TestUser } from '../support/api.ts';
import { createKey } from '../support/api-keys.ts';
import { openStream } from '../support/event-stream.ts';
import { goodAnswer } from '../support/fake-ai.ts';
import { amountsOf, createJob, creditsUsed, summary } from '../support/jobs.ts';
import { runOps } from '../support/ops.ts';
import { until } from '../support/processes.ts';
import { staysTrue } from '../support/stays-true.ts';
import { withTimes } from '../support/times.ts';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';

const reason = 'The invoice of October is not paid.';

describe('A suspended organization', () => {
  const used = useApi({
    ai: true,
    tenant: 'of each test',
    check: 'after each test',
    env: withTimes({ jobRetryDelays: [100], outageProbes: [300], outageSlot: 200 }, { WORKER_CONCURRENCY: '1' }),
  });
  const { api, ai } = used;
  let admin: TestUser;
  before(async () => {
    admin = await api.signUp('Admin');
    await api.makePlatformAdmin(admin);
  });
  afterEach(() => ai.behave('summarize'));

  const path = () => `/api/v1/admin/organizations/${used.tenant.organizationId}/suspension`;
  const suspend = () => api.request('PUT', path(), { token: admin.token, body: { reason } });
  const lift = () => api.request('DELETE', path(), { token: admin.token });
  const as = (method: string, at: string, body?: object, token = used.tenant.owner.token) =>
    api.request(method, at.startsWith('/api/') ? at : `/api/v1${at}`, { token, ...(body && { body }) });
  const job = (id: string, statuses: string[], of: Tenant = used.tenant) => api.jobIn(of.owner.token, id, statuses, 60_000);
  const db = () => api.database.db;
  const ops = (...args: string[]) => runOps(['suspend', '--organization', used.tenant.organizationId, ...args], opsEnv());
  function opsEnv() {
    const { DATABASE_URL, TEMPORAL_ADDRESS, DATA_DIR } = api.stack.env;
    return { DATABASE_URL, TEMPORAL_ADDRESS, DATA_DIR, TEMPORAL_NAMESPACE: api.temporal.namespace };
  }

  it('is read, and tells every write why not, until it is lifted', async () => {
    const { organizationId, workspaceId } = used.tenant;
    const document = await api.upload(used.tenant, { bytes: 'A text.' });
    const { id: keyId } = await createKey(api, used.tenant);
    const member = await api.signUp();
    await api.addMember(organizationId, member, 'member');
    const isTheirs = (of: { userId: string }) => of.userId === member.id;
    const memberId = (await as('GET', `/api/auth/organization/list-members?organizationId=${organizationId}`)).body.members.find(
      isTheirs,
    ).id;
    const { id: teamId } = (await as('POST', '/api/auth/organization/create-team', { organizationId, name: 'Blue' })).body;
    expect((await suspend()).body).to.include({ reason });
    expect((await as('GET', `/organizations/${organizationId}/usage`)).body.suspension).to.include({ reason });
    expect((await as('GET', `/documents/${document.id}`)).status).to.equal(200);

    const refused = [
      await as('POST', '/workspaces', { organizationId, name: 'W', slug: 'another' }),
      await as('PATCH', `/workspaces/${workspaceId}`, { name: 'W' }),
      await as('DELETE', `/documents/${document.id}`),
      await as('POST', '/documents', { workspaceId, name: 'a.txt', contentType: 'text/plain', size: 3 }),
      await as('POST', '/jobs', { ...summary, organizationId }),
    ];
    for (const { status, body } of refused) {
      expect(status, JSON.stringify(body)).to.equal(403);
      expect(body).to.deep.include({ code: 'ORGANIZATION_SUSPENDED', message: `This organization is suspended: ${reason}` });
      expect(body.data.reason).to.equal(reason);
    }
    const inOrganization = (name: string, body: object) => as('POST', `/api/auth/organization/${name}`, { organizationId, ...body });
    for (const { status, body } of [
      await inOrganization('invite-member', { email: 'b@example.com', role: 'member' }),
      await inOrganization('update', { data: { name: 'Another' } }),
      await inOrganization('update-member-role', { memberId, role: 'admin' }),
      await inOrganization('create-team', { name: 'Red' }),
      await inOrganization('update-team', { teamId, data: { name: 'Red', organizationId } }),
      await inOrganization('add-team-member', { teamId, userId: member.id }),
    ])
      expect([status, body.code], JSON.stringify(body)).to.deep.equal([403, 'ORGANIZATION_SUSPENDED']);
    expect((await as('DELETE', `/api-keys/${keyId}`)).status, 'the revocation of a key').to.equal(200);
    expect((await inOrganization('remove-member', { memberIdOrEmail: memberId })).status).to.equal(200);

    expect((await lift()).status).to.equal(200);
    expect((await lift()).status).to.equal(404);
    expect((await as('PATCH', `/workspaces/${workspaceId}`, { name: 'W' })).status).to.equal(200);
    expect((await as('GET', `/organizations/${organizationId}/usage`)).body).not.to.have.property('suspension');
    const { entries } = (await as('GET', `/organizations/${organizationId}/audit-log?targetId=${organizationId}`)).body;
    const told = entries.map(({ action, actorId, metadata }: any) => [action, actorId, metadata.reason]).slice(0, 2);
    expect(told).to.deep.equal([
      ['organization.lift', admin.id, reason],
      ['organization.suspend', admin.id, reason],
    ]);
  });

  it('has its jobs wait, at no cost, while those of others go on; what runs ends; all are done after it', async () => {
    const { tenant } = used;
    const other = await api.createTenant();
    let [isHeld, asked] = [true, 0];
    ai.behave('summarize', async (call) => {
      asked++;
      await until(() => !isHeld);
      return goodAnswer(call);
    });
    const running = await createJob(api, tenant, summary);
    await until(() => asked === 1);
    const queued: string[] = [];
    for (let n = 0; n < 5; n++) queued.push((await createJob(api, tenant, summary)).id);
    await suspend();
    isHeld = false;
    expect(await job(running.id, ['succeeded'])).to.include({ attempts: 1 });
    for (const id of queued) await until(async () => (await job(id, ['queued'])).waiting !== undefined);
    for (const id of queued) expect(await job(id, ['queued'])).to.include({ waiting: 'suspension', attempts: 0 });
    const ofOther = await createJob(api, other, summary);
    expect(await job(ofOther.id, ['succeeded'], other)).to.include({ attempts: 1 });
    // Neither sweep begins one.
    await inTransaction(db(), (trx) => releaseWaiting(trx, { limit: 100 }));
    await sweepQueuedJobs(db(), { limit: 100, getPlan: async () => null });
    await staysTrue(() => asked === 2, 1_000);

    await lift();
    for (const id of queued) {
      expect(await job(id, ['succeeded']))
        .to.include({ attempts: 1 })
        .and.not.to.have.property('waiting');
      expect(await amountsOf(api, id)).to.deep.equal([5]);
    }
    expect(await creditsUsed(api, tenant.organizationId)).to.equal(30);
  });

  it('does not let its time count as a wait for a provider that is down', async () => {
    const { tenant } = used;
    const isDown = () => noteDown(db(), { part: 'chat', cause: 'failing' }, { isProbe: false, probeDelaysMs: [60_000] });
    await isDown();
    const { id } = await createJob(api, tenant, summary);
    await until(async () => (await job(id, ['queued'])).waiting === 'provider');
    await suspend();
    const dueNow = () => inTransaction(db(), (trx) => endOutage(trx, systemActor, 'chat'));
    // It waited for three days, most of them suspended.
    const long = { waiting_since: new Date(Date.now() - 80 * 3_600_000), waits_for: 'suspension' as const };
    await db().updateTable('job').set(long).where('id', '=', id).execute();
    await dueNow();
    await isDown();
    expect((await lift()).status).to.equal(200);
    await until(async () => (await job(id, ['queued', 'failed'])).waiting === 'provider');
    await dueNow();
    expect(await job(id, ['succeeded', 'failed'])).to.include({ status: 'succeeded', attempts: 1 });
  });

  it('is suspended and lifted by an operator, too', async () => {
    const { organizationId } = used.tenant;
    const said = await ops('--reason', reason);
    expect(said.stdout).to.include(`The organization ${organizationId} is now suspended.`);
    expect((await as('POST', '/jobs', { ...summary, organizationId })).body.code).to.equal('ORGANIZATION_SUSPENDED');
    await inTransaction(db(), (trx) => liftSuspension(trx, systemActor, organizationId));
    expect((await ops('--lift')).code).to.equal(1);
  });
});

describe('Every operation that a suspended organization is refused', () => {
  const { api, ai } = useApi({ ai: true, env: { WORKER_ENABLED: 'false', ...webhooksOn } });
  let rows: TenantRows;
  before(async () => {
    ai.provider = 'remote';
    rows = await createRows(api);
    const { organizationId } = rows;
    await inTransaction(api.database.db, (trx) => suspendOrganization(trx, systemActor, { organizationId, reason }));
  });

  for (const route of routes.filter(({ metadata }) => metadata.errors.includes('ORGANIZATION_SUSPENDED'))) {
    const { operation, access, stream } = route.metadata;

    it(`writes or costs credits, and says so: ${operation}`, async () => {
      expect(route.method, access).not.to.equal('GET');
      const { token } = rows.tenant.owner;
      for (const input of inputsFor(route, rows)) {
        const body = stream ? await streamed(token) : (await callOver(api, 'REST', operation, input, { token })).body;
        expect(body, JSON.stringify(body)).to.deep.include({ code: 'ORGANIZATION_SUSPENDED' });
        expect(body.data.reason).to.equal(reason);
      }
    });
  }

  async function streamed(token: string): Promise<any> {
    const path = `/api/v1/workspaces/${rows.workspaceId}/documents/ask/stream`;
    const stream = await openStream(api, { operation: 'documents.askStream', method: 'POST', path, token, body: { question: 'What?' } });
    await stream.ended;
    return stream.events[0]?.data;
  }
});
