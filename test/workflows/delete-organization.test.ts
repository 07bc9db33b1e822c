import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { listProblems } from '../../domain/billing/problems.ts';
import { billingCommand } from '../../ops/commands/billing.ts';
import { type OpsContext, OpsError } from '../../ops/context.ts';
import { billingOn } from '../api/auth/support/service.ts';
import { type StripeServer, startStripeServer } from '../lab/stripe-stand-in/stripe-server.ts';
import { startTestApi, type Tenant, type TestApi, type TestUser } from '../support/api.ts';
import { until } from '../support/processes.ts';
import { withTimes } from '../support/times.ts';
import { useApi } from '../support/use-api.ts';

describe('admin.organizations.delete', () => {
  const { api } = useApi();
  let admin: TestUser;

  before(async () => {
    admin = await api.signUp('Root');
    await api.makePlatformAdmin(admin);
  });

  const remove = (tenant: Tenant, confirmSlug = tenant.slug) =>
    api.request('DELETE', `/api/v1/admin/organizations/${tenant.organizationId}`, { token: admin.token, body: { confirmSlug } });

  const objectsOf = (tenant: Tenant) => {
    const directory = join(api.stack.dataDir, 'objects', tenant.organizationId);
    return existsSync(directory) ? readdirSync(directory) : [];
  };

  it('deletes objects, then everything the organization owns, and keeps its audit log', async () => {
    const { db } = api.database;
    const tenant = await api.createTenant();
    const other = await api.createTenant();
    for (let n = 0; n < 3; n++) await api.upload(tenant, { bytes: `document ${n}` });
    const kept = await api.upload(other, { bytes: 'another tenant' });
    const { id: documentId } = await api.upload(tenant, { bytes: 'One sentence. Another sentence.' });
    const job = await api.request('POST', '/api/v1/jobs', { token: tenant.owner.token, body: { kind: 'document.index', documentId } });
    await api.jobIn(tenant.owner.token, job.body.id, ['succeeded']);
    expect(objectsOf(tenant)).to.have.lengthOf(4);

    const answer = await remove(tenant);

    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    expect(answer.body).to.deep.equal({ organizationId: tenant.organizationId, objectsDeleted: 4, objectsFailed: 0 });
    expect(objectsOf(tenant)).to.deep.equal([]);
    expect(objectsOf(other)).to.deep.equal([kept.id]);
    for (const table of ['workspace', 'document', 'chunk', 'job', 'credit_entry', 'credit_month'] as const) {
      const rows = await db.selectFrom(table).select('organization_id').where('organization_id', '=', tenant.organizationId).execute();
      expect(rows, table).to.deep.equal([]);
    }
    const audit = await db.selectFrom('audit_entry').selectAll().where('organization_id', '=', tenant.organizationId).execute();
    const deletions = audit.filter(({ action }) => action === 'organization.delete');
    expect(deletions).to.have.lengthOf(1);
    expect(deletions[0]?.actor_id).to.equal(admin.id);
    expect((await remove(tenant)).status).to.equal(404);
  });

  it('refuses another slug, an unknown organization and a live subscription', async () => {
    const { db } = api.database;
    const tenant = await api.createTenant();
    expect((await remove(tenant, 'another-slug')).body.code).to.equal('NOT_FOUND');
    expect((await remove({ ...tenant, organizationId: 'absent' })).body.code).to.equal('NOT_FOUND');
    const subscription = { id: 's1', plan: 'pro', referenceId: tenant.organizationId, status: 'active' };
    await db
      .insertInto('subscription')
      .values(subscription as never)
      .execute();
    expect((await remove(tenant)).body).to.include({ code: 'PRECONDITION_FAILED', status: 412, defined: true });
    await db.updateTable('subscription').set({ status: 'canceled' }).where('id', '=', 's1').execute();
    expect((await remove(tenant)).status).to.equal(200);
  });

  it('meets the same run when it is asked twice at once, and when the client hung up', async () => {
    const tenant = await api.createTenant();
    for (let n = 0; n < 5; n++) await api.upload(tenant, { bytes: `document ${n}` });
    const hangUp = new AbortController();
    const gone = api
      .request('DELETE', `/api/v1/admin/organizations/${tenant.organizationId}`, {
        token: admin.token,
        body: { confirmSlug: tenant.slug },
        signal: hangUp.signal,
      })
      .catch(() => undefined);
    const [first, second] = await Promise.all([remove(tenant), remove(tenant)]);
    hangUp.abort();
    await gone;
    const answers = [first, second].filter(({ status }) => status === 200).map(({ body }) => body.objectsDeleted);
    expect(answers).to.include(5);
    const runs = api.temporal.client.workflow.list({ query: `WorkflowId = 'delete-organization-${tenant.organizationId}'` });
    await until(async () => (await Array.fromAsync(runs)).length === 1);
  });

  it('waits for its own run, also if an earlier one was terminated', async () => {
    const tenant = await api.createTenant();
    await api.upload(tenant, { bytes: 'a document' });
    const { organizationId } = tenant;
    const early = await api.temporal.client.workflow.start('deleteOrganization', {
      ...{ taskQueue: 'sheaf', workflowId: `delete-organization-${organizationId}`, args: [{ organizationId }] },
      startDelay: '1 hour',
    });
    await early.terminate();
    const answer = await remove(tenant);
    expect([answer.status, answer.body]).to.deep.equal([200, { organizationId, objectsDeleted: 1, objectsFailed: 0 }]);
  });

  it('refuses writes and ends jobs while it goes on', async () => {
    const { db } = api.database;
    const tenant = await api.createTenant();
    const { token } = tenant.owner;
    await db.insertInto('organization_deletion').values({ organization_id: tenant.organizationId, requested_by: null }).execute();
    const body = { organizationId: tenant.organizationId, kind: 'text.embed', texts: ['a'] };
    expect((await api.request('POST', '/api/v1/jobs', { token, body })).body.code).to.equal('NOT_FOUND');
    const upload = { workspaceId: tenant.workspaceId, name: 'a.txt', contentType: 'text/plain', size: 1 };
    expect((await api.request('POST', '/api/v1/documents', { token, body: upload })).body.code).to.equal('NOT_FOUND');
    expect((await remove(tenant)).status).to.equal(200);
  });

  it('is what deletes: a workflow that was started by hand deletes nothing, and says so', async () => {
    const { client } = api.temporal;
    const tenant = await api.createTenant();
    await api.upload(tenant, { bytes: 'kept' });
    const { organizationId, workspaceId } = tenant;
    const runs = [
      { type: 'deleteOrganization', input: { organizationId } },
      { type: 'deleteWorkspace', input: { organizationId, workspaceId } },
    ];
    for (const { type, input } of runs) {
      const workflowId = `by-hand-${type}`;
      const failure = await client.workflow
        .execute(type, { taskQueue: 'sheaf', workflowId, args: [input] })
        .catch((error) => error.cause.cause);
      expect(failure, type).to.include({ type: 'NotRequested', nonRetryable: true });
      expect(failure.message).to.match(/^Nobody has asked to delete the (organization|workspace) /);
    }
    expect(objectsOf(tenant)).to.have.lengthOf(1);
    const kept = api.database.db.selectFrom('document').select('id').where('organization_id', '=', organizationId);
    expect(await kept.execute()).to.have.lengthOf(1);
  });

  it('tells the operator of a customer that it cannot end while billing is off', async () => {
    const tenant = await api.createTenant();
    const customer = { stripeCustomerId: 'cus_left' };
    await api.database.db.updateTable('organization').set(customer).where('id', '=', tenant.organizationId).execute();
    expect((await remove(tenant)).status).to.equal(200);
    const problems = await listProblems(api.database.db, 10);
    expect(problems.map(({ kind, subject, organization_id }) => [kind, subject, organization_id])).to.deep.equal([
      ['customer-left', 'cus_left', tenant.organizationId],
    ]);
  });
});

describe('admin.organizations.delete, with billing', () => {
  let api: TestApi;
  let stripe: StripeServer;
  before(async () => {
    stripe = await startStripeServer();
    api = await startTestApi({ env: withTimes({ deletionWait: 500 }, { ...billingOn, STRIPE_API_BASE: stripe.url }) });
  });
  after(async () => {
    await api.stop();
    await stripe.stop();
  });

  it('ends the customer, so that nobody pays at a checkout that was left open, also if Stripe was away', async () => {
    const admin = await api.signUp('Root');
    await api.makePlatformAdmin(admin);
    const tenant = await api.createTenant();
    const { owner, organizationId, slug } = tenant;
    const { id: documentId } = await api.upload(tenant, { bytes: 'a document' });
    const body = { plan: 'pro', referenceId: organizationId, successUrl: '/', cancelUrl: '/' };
    const checkout = await api.request('POST', '/api/auth/subscription/upgrade', { token: owner.token, body });
    expect(checkout.status, JSON.stringify(checkout.body)).to.equal(200);
    stripe.available = false;
    stripe.requests.length = 0;
    const confirmation = { token: admin.token, body: { confirmSlug: slug } };
    void api.request('DELETE', `/api/v1/admin/organizations/${organizationId}`, confirmation).catch(() => undefined);
    await until(() => stripe.requests.some((request) => request.startsWith('GET /v1/checkout/sessions')));
    // Objects may take hours; until they are gone nobody shall pay.
    expect(readdirSync(join(api.stack.dataDir, 'objects', organizationId))).to.deep.equal([documentId]);
    stripe.available = true;
    const organization = api.database.db.selectFrom('organization').select('id').where('id', '=', organizationId);
    await until(async () => (await organization.execute()).length === 0);
    expect(stripe.state.sessions.get(checkout.body.id)?.status).to.equal('expired');
    expect(() => stripe.state.pay(checkout.body.id)).to.throw();
    expect([...stripe.state.customers.values()]).to.deep.equal([
      { id: stripe.state.sessions.get(checkout.body.id)?.customer, object: 'customer', deleted: true },
    ]);
  });

  it('tells the operator what ended with the customer though it was paid, until it is refunded', async () => {
    const admin = await api.signUp('Root');
    await api.makePlatformAdmin(admin);
    const { organizationId, slug } = await api.createTenant();
    const { db } = api.database;
    stripe.state.addCustomer('cus_paid', organizationId);
    await db.updateTable('organization').set({ stripeCustomerId: 'cus_paid' }).where('id', '=', organizationId).execute();
    // No event of them has come.
    const { id } = stripe.state.subscribe({ customer: 'cus_paid', prices: [['price_pro', 1]] });
    stripe.state.subscribe({ customer: 'cus_paid', prices: [['price_pro', 1]], status: 'incomplete_expired' });
    const other = stripe.state.subscribe({ customer: 'cus_other', prices: [['price_pro', 1]] });
    const confirmation = { token: admin.token, body: { confirmSlug: slug } };
    void api.request('DELETE', `/api/v1/admin/organizations/${organizationId}`, confirmation).catch(() => undefined);
    const organization = db.selectFrom('organization').select('id').where('id', '=', organizationId);
    await until(async () => (await organization.execute()).length === 0);
    expect([stripe.subscriptions.get(id)?.status, other.status]).to.deep.equal(['canceled', 'active']);
    const problems = async () => (await listProblems(db, 10)).map(({ kind, subject, organization_id }) => [kind, subject, organization_id]);
    expect(await problems()).to.deep.equal([['ended-with-organization', id, organizationId]]);
    const context = { db, print: () => undefined } as unknown as OpsContext;
    expect(await billingCommand.run(['--refunded', other.id], context).catch((error: unknown) => error)).to.be.instanceOf(OpsError);
    expect(await problems()).to.have.length(1);
    await billingCommand.run(['--refunded', id], context);
    expect(await problems()).to.deep.equal([]);
  });
});
