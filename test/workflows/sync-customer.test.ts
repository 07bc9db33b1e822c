import { expect } from 'chai';
import { billingOn } from '../api/auth/support/service.ts';
import { type StripeServer, startStripeServer } from '../lab/stripe-stand-in/stripe-server.ts';
import { until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

describe('syncCustomer', () => {
  let stripe: StripeServer;
  const { api, tenant } = useApi({
    async env() {
      stripe = await startStripeServer();
      return { ...billingOn, STRIPE_API_BASE: stripe.url };
    },
    tenant: 'of each test',
  });
  after(() => stripe.stop());
  beforeEach(async () => {
    stripe.available = true;
    const answer = await auth('/subscription/upgrade', { plan: 'pro', referenceId: tenant.organizationId });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    await until(() => customer()?.name === tenant.slug);
    stripe.requests.length = 0;
  });

  const auth = (path: string, body: object) => api.request('POST', `/api/auth${path}`, { token: tenant.owner.token, body });
  const rename = (name: string) => auth('/organization/update', { organizationId: tenant.organizationId, data: { name } });
  const customer = () => [...stripe.state.customers.values()].find(({ metadata }) => metadata.organizationId === tenant.organizationId);
  const updates = () => stripe.requests.filter((request) => request.startsWith('POST /v1/customers/'));

  it('makes one change of names that follow each other closely, and of the same name none', async () => {
    // Written as the API writes them, but closer to each other than requests of a busy machine are.
    const organization = api.database.db.updateTable('organization').where('id', '=', tenant.organizationId);
    for (const name of ['One', 'Two', 'Three']) await organization.set({ name }).execute();
    await until(() => customer()?.name === 'Three');
    expect(updates()).to.have.length(1);
    await rename('Three');
    await rename('Four');
    await until(() => customer()?.name === 'Four');
    expect(updates()).to.have.length(2);
  });

  it('goes on once Stripe answers again', async () => {
    stripe.available = false;
    await rename('Later');
    await until(() => stripe.requests.length > 0);
    expect(customer()?.name).to.equal(tenant.slug);
    stripe.available = true;
    await until(() => customer()?.name === 'Later');
  });

  it('leaves a customer alone that was deleted at Stripe', async () => {
    const id = customer()?.id;
    stripe.state.deleteCustomer(id);
    await rename('Gone');
    const handle = api.temporal.client.workflow.getHandle(`customer-${tenant.organizationId}`);
    await until(() => stripe.requests.some((request) => request === `GET /v1/customers/${id}`));
    expect(await handle.result()).to.deep.equal({ renamed: false });
    expect(updates()).to.deep.equal([]);
  });
});
