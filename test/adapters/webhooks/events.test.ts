import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { sql } from 'kysely';
import { webhookEventNames, webhookEvents } from '../../../contract/webhook-events.ts';
import { billingOn } from '../../api/auth/support/service.ts';
import { createJob, summary } from '../../support/jobs.ts';
import { until } from '../../support/processes.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { staysTrue } from '../../support/stays-true.ts';
import { useApi } from '../../support/use-api.ts';
import { addEndpoint, call, deliveriesOf, webhooksOn } from './support.ts';

const embed = { kind: 'text.embed', texts: ['one'] };

describe('The events of webhooks', () => {
  const env = { ...webhooksOn, ...billingOn, STRIPE_API_BASE: 'http://127.0.0.1:9', PLANS: '{"free":{"aiCredits":10}}' };
  const used = useApi({ ai: true, env, tenant: 'of each test' });
  const { api, ai } = used;
  let receiver: Receiver;
  beforeEach(async () => {
    ai.behave('embed');
    receiver = await startReceiver();
    await addEndpoint(api, used.tenant, { url: receiver.url, events: webhookEventNames.filter((name) => name !== 'audit.entry') });
  });
  afterEach(() => receiver.stop());

  const types = () => receiver.received.map(({ event }) => event.type as string);
  const dataOf = (type: string) => receiver.received.filter(({ event }) => event.type === type).map(({ event }) => event.data);

  /** Runs a job to its end. */
  async function end(fields: Record<string, unknown>): Promise<void> {
    const job = await createJob(api, used.tenant, fields);
    await api.jobIn(used.tenant.owner.token, job.id, ['succeeded']);
  }

  /** Waits for events of these kinds, and for no more of them. Each is what the document says of it. */
  async function expectEvents(...expected: string[]): Promise<void> {
    await until(() => types().length >= expected.length).catch(() => {});
    await staysTrue(() => types().length <= expected.length, 700);
    expect(types().sort()).to.deep.equal(expected.sort());
    for (const { event, body } of receiver.received) {
      const schema = webhookEvents.find(({ name }) => name === event.type)?.schema;
      expect(schema?.parse(event)).to.deep.equal(event);
      expect(event.data.organizationId).to.equal(used.tenant.organizationId);
      expect(Buffer.byteLength(body)).to.be.below(20_000);
    }
  }

  it('tell of documents that are ready, and of those that are gone, by themselves or with their workspace', async () => {
    const { tenant } = used;
    const { token } = tenant.owner;
    const pending = { workspaceId: tenant.workspaceId, name: 'a.txt', contentType: 'text/plain', size: 5 };
    const { document } = await call(api, tenant, 'POST', '/documents', pending);
    await api.request('DELETE', `/api/v1/documents/${document.id}`, { token });
    const first = await api.upload(tenant, { bytes: 'one' });
    const second = await api.upload(tenant, { bytes: 'two' });
    await api.request('DELETE', `/api/v1/documents/${first.id}`, { token });
    await api.request('DELETE', `/api/v1/workspaces/${tenant.workspaceId}`, { token });
    await expectEvents('document.ready', 'document.ready', 'document.deleted', 'document.deleted');
    const { organizationId, workspaceId } = tenant;
    expect(dataOf('document.deleted')).to.have.deep.members(
      [first, second].map(({ id: documentId }) => ({ organizationId, documentId, workspaceId })),
    );
  });

  it('tell of a document that it is ready with each new version, and nothing of the upload that it came with', async () => {
    const { tenant } = used;
    const { token } = tenant.owner;
    const { id } = await api.upload(tenant, { bytes: 'one' });
    for (const bytes of ['two', 'three']) {
      const file = { workspaceId: tenant.workspaceId, name: 'a.txt', contentType: 'text/plain', size: bytes.length, replaces: id };
      const { document, upload } = await call(api, tenant, 'POST', '/documents', file);
      await fetch(upload.url, { method: 'PUT', headers: upload.headers, body: bytes });
      await api.request('POST', `/api/v1/documents/${document.id}/complete`, { token });
      await until(async () => (await api.request('GET', `/api/v1/documents/${document.id}`, { token })).status === 404);
    }
    await expectEvents('document.ready', 'document.ready', 'document.ready', 'job.succeeded', 'job.succeeded');
    for (const data of dataOf('document.ready')) expect(data).to.include({ documentId: id });
  });

  it('tell of jobs that end with their workspace, and name it', async () => {
    const { tenant } = used;
    const { organizationId, workspaceId } = tenant;
    // It holds the job as long as the AI service waits.
    ai.behave('embed', () => undefined);
    const { id: jobId } = await createJob(api, tenant, { ...embed, workspaceId });
    await api.request('DELETE', `/api/v1/workspaces/${workspaceId}`, { token: tenant.owner.token });
    await expectEvents('job.failed');
    expect(dataOf('job.failed')).to.deep.equal([{ organizationId, jobId, kind: 'text.embed', workspaceId, documentId: null }]);
  });

  it('tell of members that come and go, and of subscriptions that change', async () => {
    const { tenant } = used;
    const { organizationId } = tenant;
    const user = await api.signUp();
    await api.addMember(organizationId, user, 'member');
    const { db } = api.database;
    await db.deleteFrom('member').where('userId', '=', user.id).execute();
    const id = randomUUID();
    const row = { id, plan: 'pro', referenceId: organizationId, status: 'incomplete' };
    await db
      .insertInto('subscription')
      .values(row as never)
      .execute();
    await db.updateTable('subscription').set({ status: 'active' }).where('id', '=', id).execute();
    await db.updateTable('subscription').set({ status: 'active' }).where('id', '=', id).execute();
    await db.deleteFrom('subscription').where('id', '=', id).execute();
    await expectEvents('member.added', 'member.removed', 'subscription.changed', 'subscription.changed');
    const [{ memberId }] = dataOf('member.added');
    expect(dataOf('member.removed')).to.deep.equal([{ organizationId, memberId, userId: user.id, role: 'member' }]);
    expect(dataOf('subscription.changed').map(({ status }) => status)).to.have.members(['active', 'canceled']);
  });

  it('tell once a month that credits are low and that they are used up, also if some come back', async () => {
    const { tenant } = used;
    const { token } = tenant.owner;
    await end(summary);
    for (let n = 0; n < 3; n++) await end(embed);
    await expectEvents(...Array(4).fill('job.succeeded'));
    await end(embed);
    ai.behave('embed', () => ({ status: 422, body: { error: { code: 'bad', message: 'Bad.' } } }));
    // It takes the last credit, and gives it back; so does the next one.
    for (let n = 0; n < 2; n++) await api.jobIn(token, (await createJob(api, tenant, embed)).id, ['failed']);
    await expectEvents(...Array(5).fill('job.succeeded'), 'job.failed', 'job.failed', 'credits.low', 'credits.exhausted');
    expect(dataOf('credits.low')[0]).to.include({ used: 9, limit: 10, plan: 'free' });
    expect(dataOf('credits.exhausted')[0]).to.include({ used: 10, limit: 10, plan: 'free' });
  });

  it('tell that credits are low also if a smaller plan has made them so', async () => {
    const id = randomUUID();
    const row = { id, plan: 'pro', referenceId: used.tenant.organizationId, status: 'active' };
    const { db } = api.database;
    await db
      .insertInto('subscription')
      .values(row as never)
      .execute();
    await end(summary);
    for (let n = 0; n < 4; n++) await end(embed);
    await db.deleteFrom('subscription').where('id', '=', id).execute();
    await end(embed);
    await expectEvents(
      ...Array(6).fill('job.succeeded'),
      ...['subscription.changed', 'subscription.changed', 'credits.low', 'credits.exhausted'],
    );
    expect(dataOf('credits.low')[0]).to.include({ used: 10, limit: 10, plan: 'free' });
  });

  it('are written with what happened or not at all, and only where somebody asks', async () => {
    const { tenant } = used;
    const { db } = api.database;
    const user = await api.signUp();
    const other = await api.createTenant();
    await api.addMember(other.organizationId, user, 'member');
    const count = async () => (await db.selectFrom('webhook_delivery').select('id').execute()).length;
    const before = await count();
    const member = { id: randomUUID(), organizationId: tenant.organizationId, userId: user.id, role: 'member' };
    const rolledBack = db.transaction().execute(async (trx) => {
      await trx.insertInto('member').values(member).execute();
      throw new Error('rolled back');
    });
    expect(await rolledBack.catch((error) => error.message)).to.equal('rolled back');
    expect(await count()).to.equal(before);
    await db.insertInto('member').values(member).execute();
    expect(await count()).to.equal(before + 1);
    // A fact that is written twice is one event.
    await sql`select emit_webhook(${tenant.organizationId}, 'member.added', ${`member.added ${member.id}`}, '{}')`.execute(db);
    expect(await count()).to.equal(before + 1);
  });

  it('end with their organization: nobody is told of its deletion, and nothing of them is left', async () => {
    const { tenant } = used;
    const { db } = api.database;
    await api.upload(tenant, { bytes: 'one' });
    await expectEvents('document.ready');
    const admin = await api.signUp();
    await api.makePlatformAdmin(admin);
    const path = `/api/v1/admin/organizations/${tenant.organizationId}`;
    const deleted = await api.request('DELETE', path, { token: admin.token, body: { confirmSlug: tenant.slug } });
    expect(deleted.status).to.equal(200);
    await expectEvents('document.ready');
    for (const table of ['webhook_endpoint', 'webhook_delivery'] as const) {
      const rows = await db.selectFrom(table).select('id').where('organization_id', '=', tenant.organizationId).execute();
      expect(rows, table).to.deep.equal([]);
    }
  });
});

describe('Webhooks that are off', () => {
  const { api, ai, tenant } = useApi({ process: true, ai: true, env: webhooksOn });

  it('write nothing and send nothing, and every operation says so; what there was comes back with them', async () => {
    const receiver = await startReceiver();
    const { id } = await addEndpoint(api, tenant, { url: receiver.url });
    await api.stack.restart('api', { WEBHOOKS_ENABLED: 'false' });
    ai.behave('embed');
    const run = async () => api.jobIn(tenant.owner.token, (await createJob(api, tenant, embed)).id, ['succeeded']);
    await run();
    const { db } = api.database;
    expect(await db.selectFrom('webhook_delivery').selectAll().execute()).to.deep.equal([]);
    const refused = await api.request('GET', `/api/v1/webhooks/${id}`, { token: tenant.owner.token });
    expect(refused.status).to.equal(412);
    expect(refused.body.message).to.equal('Webhooks are not enabled on this deployment.');

    await api.stack.restart('api', { WEBHOOKS_ENABLED: 'true' });
    await run();
    await until(() => receiver.received.length === 1);
    expect(await deliveriesOf(api, tenant)).to.have.length(1);
    await receiver.stop();
  });
});
