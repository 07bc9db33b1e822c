import { expect } from 'chai';
import { billingOn } from '../../api/auth/support/service.ts';
import { sendEvents } from '../../lab/stripe-stand-in/send-events.ts';
import { type StripeServer, startStripeServer } from '../../lab/stripe-stand-in/stripe-server.ts';
import { violationsOf } from './support/axe.ts';
import { act } from './support/row-menu.ts';
import { pathOf, useConsole } from './support/use-console.ts';

describe('The plan in the console', () => {
  let stripe: StripeServer;
  const { api, open, tenant } = useConsole(async () => {
    stripe = await startStripeServer();
    return { ...billingOn, STRIPE_API_BASE: stripe.url };
  });
  after(() => stripe.stop());

  it('is bought at the checkout of the payment provider, and then managed in its portal', async () => {
    const told = sendEvents(stripe.state, { url: `${api.url}/api/auth/stripe/webhook`, secret: String(billingOn.STRIPE_WEBHOOK_SECRET) });
    const { page, context } = await open(pathOf(tenant, 'plan'), { as: tenant.owner });
    // The pages of the provider, which are not the console's.
    await context.route(/^https:\/\/[\w.]+\.example\//, (route) => route.fulfill({ body: 'The payment provider' }));
    await page.getByText('Your plan is Free.').waitFor();
    await page.getByRole('button', { name: 'Change to Pro' }).click();
    await page.waitForURL('https://checkout.example/*');
    stripe.state.pay(new URL(page.url()).pathname.slice(1));
    expect((await told()).map(({ status }) => status)).to.not.include(0);

    await page.goto(api.url + pathOf(tenant, 'plan'));
    await page.getByText('Your plan is Pro.').waitFor();
    await page.getByText(/^Active · Paid until/).waitFor();
    await page.getByRole('button', { name: 'Change to Team' }).waitFor();
    await page.getByRole('button', { name: 'Invoices and payment' }).click();
    await page.getByText('The payment provider').waitFor();
    expect(stripe.requests.some((request) => request.startsWith('POST /v1/billing_portal/sessions'))).to.equal(true);
  });

  it('leads to what is used of it where one of its limits is reached', async () => {
    const full = await api.createTenant();
    const { token } = full.owner;
    const more = (n: number) => ({ organizationId: full.organizationId, name: `More ${n}`, slug: `more-${n}` });
    for (let n = 1; (await api.request('POST', '/api/v1/workspaces', { token, body: more(n) })).status === 200; n += 1);
    const { page } = await open(pathOf(full, 'workspaces'), { as: full.owner });
    await page.getByRole('button', { name: 'New workspace' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('One more');
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await page.getByRole('alert').getByRole('link', { name: 'Usage' }).click();
    await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
    expect(await page.getByRole('dialog').count()).to.equal(0);
  });

  it('is given by a platform admin by hand, with single limits, until a day, and taken back', async () => {
    const admin = await api.signUp('Platform Admin');
    await api.makePlatformAdmin(admin);
    const given = await api.createTenant();
    const { page } = await open(`/admin/organizations?q=${given.slug}`, { as: admin });
    await act(page, /./, 'Plan by hand');
    await page.getByLabel('Plan', { exact: true }).selectOption({ label: 'Team' });
    await page.getByLabel('Credits a month').fill('5000');
    await page.getByLabel('Storage of each workspace, in GB').fill('1.5');
    await page.getByLabel(/^Until/).fill('2999-12-31');
    await page.getByLabel('Reason').fill('A trial.');
    await page.getByRole('menu').waitFor({ state: 'detached' });
    expect(await violationsOf(page)).to.deep.equal([]);
    await page.getByRole('button', { name: 'Give', exact: true }).click();
    await page.getByText(/^Given by the operator until Dec 31, 2999: A trial\.$/).waitFor();
    const planOf = async () => {
      const path = `/api/v1/organizations/${given.organizationId}/usage`;
      const { plan, limits } = (await api.request('GET', path, { token: given.owner.token })).body;
      return { plan, credits: limits.aiCredits, storage: limits.storageBytes };
    };
    expect(await planOf()).to.deep.equal({ plan: 'team', credits: 5_000, storage: 1_500_000_000 });
    // Its owner may buy it before it ends.
    const { page: own } = await open(pathOf(given, 'plan'), { as: given.owner });
    await own.getByText('Your plan is Team.').waitFor();
    await own.getByRole('button', { name: 'Change to Pro' }).waitFor();
    await own.getByRole('button', { name: 'Change to Team' }).waitFor();
    await act(page, /./, 'End the plan by hand');
    await page.getByText(/^Given by the operator/).waitFor({ state: 'detached' });
    expect((await planOf()).plan).to.equal('free');
  });
});
