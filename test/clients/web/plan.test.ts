import { expect } from 'chai';
import { billingOn } from '../../api/auth/support/service.ts';
import { sendEvents } from '../../lab/stripe-stand-in/send-events.ts';
import { type StripeServer, startStripeServer } from '../../lab/stripe-stand-in/stripe-server.ts';
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
});
