import { expect } from 'chai';
import { listProblems } from '../../domain/billing/problems.ts';
import { billingOn } from '../api/auth/support/service.ts';
import { type StripeServer, startStripeServer } from '../lab/stripe-stand-in/stripe-server.ts';
import { nightly } from '../support/nightly.ts';
import { runOps } from '../support/ops.ts';
import { until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

describe('reconcileBilling', () => {
  let stripe: StripeServer;
  const { api, tenant } = useApi({
    process: true,
    async env() {
      stripe = await startStripeServer();
      return { ...billingOn, STRIPE_SEAT_PRICE_TEAM: 'price_seat', STRIPE_API_BASE: stripe.url };
    },
  });
  let id: string;

  before(async () => {
    stripe.state.addCustomer('cus_ours', tenant.organizationId);
    stripe.state.addCustomer('cus_left', 'an-organization-that-is-gone');
    const organizations = api.database.db.updateTable('organization');
    await organizations.set({ stripeCustomerId: 'cus_ours' }).where('id', '=', tenant.organizationId).execute();
    const other = await api.createTenant();
    await organizations.set({ stripeCustomerId: 'cus_missing' }).where('id', '=', other.organizationId).execute();
    const ours = stripe.state.customers.get('cus_ours') ?? {};
    await until(() => ours.name === tenant.slug);
    ours.name = 'Somebody else';
    ({ id } = stripe.state.subscribe({ customer: 'cus_ours', prices: [['price_team', 1]] }));
  });
  after(() => stripe.stop());

  const rows = () => api.database.db.selectFrom('subscription').selectAll().execute();
  const run = () =>
    api.temporal.client.workflow.execute('reconcileBilling', { taskQueue: 'sheaf', workflowId: `reconcile-${Date.now()}`, args: [] });
  const check = () => runOps(['billing', '--check', '--json'], { ...api.stack.env, TEMPORAL_NAMESPACE: api.temporal.namespace });

  it('compares and changes nothing when an operator checks', async () => {
    expect(JSON.parse((await check()).stdout).compared).to.deep.equal({ subscriptions: 1, different: [id], seats: [], customers: 2 });
    expect(await rows()).to.deep.equal([]);
    expect(stripe.state.customers.get('cus_ours')?.name).to.equal('Somebody else');
  });

  it('repairs nothing for an operator who mistypes that', async () => {
    const options = { taskQueue: 'sheaf', workflowId: `reconcile-${Date.now()}`, args: [{ repairs: false }] };
    const failure = await api.temporal.client.workflow.execute('reconcileBilling', options).catch((error: unknown) => error);
    expect(failure).to.have.nested.property('cause.type', 'InvalidInput');
    expect(await rows()).to.deep.equal([]);
  });

  it('repairs rows and seats, and reports what only an operator can decide', async () => {
    expect(await run()).to.deep.equal({ subscriptions: 1, different: [id], seats: [], customers: 2 });
    expect((await rows()).map(({ plan, status }) => [plan, status])).to.deep.equal([['team', 'active']]);
    await until(async () => (await rows())[0]?.seats === 1);
    const problems = await listProblems(api.database.db, 10);
    expect(problems.map(({ kind, subject }) => [kind, subject])).to.have.deep.members([
      ['customer-left', 'cus_left'],
      ['customer-missing', 'cus_missing'],
    ]);
    await until(() => stripe.state.customers.get('cus_ours')?.name === tenant.slug);
    expect(await run()).to.deep.include({ different: [], seats: [] });
  });

  const runningChecks = async () => {
    const query = `WorkflowType = 'reconcileBilling' and ExecutionStatus = 'Running'`;
    return (await api.temporal.client.workflow.count(query)).count;
  };

  it('does not say that nothing is wrong beside a row that differs', async () => {
    stripe.state.deleteCustomer('cus_left');
    const organizations = api.database.db.updateTable('organization');
    await organizations.set({ stripeCustomerId: null }).where('stripeCustomerId', '=', 'cus_missing').execute();
    await run();
    const subscription = stripe.subscriptions.get(id);
    if (subscription) subscription.cancel_at_period_end = true;
    const { code, stdout } = await runOps(['billing', '--check'], { ...api.stack.env, TEMPORAL_NAMESPACE: api.temporal.namespace });
    expect({ code, lines: stdout.trim().split('\n') }).to.deep.equal({
      code: 1,
      lines: ['1 subscriptions and 1 customers were compared.', `${id}: the row is not what Stripe says.`],
    });
  });

  it('tells an operator who checks that Stripe fails, instead of waiting for it to come back', async () => {
    stripe.available = false;
    const { code, stdout, stderr } = await check();
    stripe.available = true;
    expect([code, stdout]).to.deep.equal([1, '']);
    expect(stderr).to.equal('The comparison failed: down\n');
    await until(async () => (await runningChecks()) === 0);
  });

  nightly('tells an operator who checks that no worker polls: at once, or once the last one has not come', async () => {
    await api.stack.kill('api');
    const { code, stdout, stderr } = await check();
    expect([code, stdout]).to.deep.equal([1, '']);
    expect(stderr).to.match(/^No worker polls the task queue sheaf/);
    await until(async () => (await runningChecks()) === 0);
  });
});
