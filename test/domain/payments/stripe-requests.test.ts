import { globSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import pino from 'pino';
import { createCancelSubscription } from '../../../domain/payments/cancel-subscription.ts';
import { closeCustomers } from '../../../domain/payments/close-customers.ts';
import { createPayments, type Payments } from '../../../domain/payments/payments.ts';
import { reconcile } from '../../../domain/payments/reconcile.ts';
import { syncCustomer } from '../../../domain/payments/sync-customer.ts';
import { syncSeats } from '../../../domain/payments/sync-seats.ts';
import { type AuthService, billingOn, startAuthService } from '../../api/auth/support/service.ts';
import { createSubscriber, type Subscriber, sendEvent } from '../../api/auth/support/subscriber.ts';
import { type StripeServer, startStripeServer } from '../../lab/stripe-stand-in/stripe-server.ts';
import { type StripeMock, startStripeMock } from '../../support/stripe-mock.ts';

/** Every call that the code makes, with the request that it sends. */
const requests: Record<string, RegExp> = {
  'billingPortal.sessions.create': /^POST \/v1\/billing_portal\/sessions/,
  'checkout.sessions.create': /^POST \/v1\/checkout\/sessions /,
  'checkout.sessions.expire': /^POST \/v1\/checkout\/sessions\/\w+\/expire/,
  'checkout.sessions.list': /^GET \/v1\/checkout\/sessions /,
  'checkout.sessions.retrieve': /^GET \/v1\/checkout\/sessions\/\w+/,
  'customers.create': /^POST \/v1\/customers /,
  'customers.del': /^DELETE \/v1\/customers\/\w+/,
  'customers.list': /^GET \/v1\/customers /,
  'customers.retrieve': /^GET \/v1\/customers\/cus_\w+/,
  'customers.search': /^GET \/v1\/customers\/search/,
  'customers.update': /^POST \/v1\/customers\/\w+ /,
  'invoices.list': /^GET \/v1\/invoices /,
  'invoices.retrieve': /^GET \/v1\/invoices\/\w+/,
  'subscriptionSchedules.create': /^POST \/v1\/subscription_schedules /,
  'subscriptionSchedules.release': /^POST \/v1\/subscription_schedules\/\w+\/release/,
  'subscriptionSchedules.retrieve': /^GET \/v1\/subscription_schedules\/\w+/,
  'subscriptionSchedules.update': /^POST \/v1\/subscription_schedules\/\w+ /,
  'subscriptions.cancel': /^DELETE \/v1\/subscriptions\/\w+/,
  'subscriptions.list': /^GET \/v1\/subscriptions /,
  'subscriptions.retrieve': /^GET \/v1\/subscriptions\/\w+/,
  'subscriptions.update': /^POST \/v1\/subscriptions\/\w+/,
};

describe('What is sent to Stripe', () => {
  let mock: StripeMock;
  let stripe: StripeServer;
  let service: AuthService;
  let payments: Payments;
  let subscriber: Subscriber;
  before(async function () {
    // Building it takes a minute the first time.
    this.timeout(600_000);
    mock = await startStripeMock();
    stripe = await startStripeServer();
    stripe.validator = mock.url;
    service = await startAuthService({ ...billingOn, STRIPE_SEAT_PRICE_TEAM: 'price_seat', STRIPE_API_BASE: stripe.url });
    const made = createPayments({ ...service, log: pino({ level: 'silent' }) });
    if (!made) throw new Error('Billing is off');
    payments = made;
  });
  after(async () => {
    await service?.stop();
    await stripe?.stop();
    await mock?.stop();
  });
  beforeEach(async () => {
    subscriber = await createSubscriber(service, stripe);
  });
  afterEach(() => {
    expect(stripe.invalid).to.deep.equal([]);
  });

  const post = async (path: string, body: object) => {
    const answer = await subscriber.owner.post(path, { referenceId: subscriber.organizationId, returnUrl: '/', ...body });
    expect(answer.status, `${path} ${JSON.stringify(answer.body)}`).to.equal(200);
    return answer.body;
  };
  const deliver = async (last = 1) => {
    for (const event of stripe.state.events.slice(-last)) expect((await sendEvent(service, event)).status).to.equal(200);
  };

  it('is refused by the mock if it is wrong, so that the rest of this shows something', async () => {
    await payments.stripe.customers.create({ name: 'Acme', colour: 'blue' } as object).catch(() => undefined);
    expect(stripe.invalid.splice(0)).to.have.length(1);
    await payments.stripe.subscriptions.update('sub_none', { cancel_at_period_end: 'perhaps' as never }).catch(() => undefined);
    expect(stripe.invalid.splice(0)).to.have.length(1);
  });

  it('begins a checkout of a new customer, and follows it', async () => {
    await service.db.updateTable('organization').set({ stripeCustomerId: null }).where('id', '=', subscriber.organizationId).execute();
    stripe.state.customers.delete(subscriber.customer);
    await post('/subscription/upgrade', { plan: 'pro', locale: 'de', seats: 2, metadata: { campaign: 'spring' } });
    const { id } = await post('/subscription/upgrade', { plan: 'team' });
    stripe.state.pay(id);
    await subscriber.owner.get(`/subscription/success?callbackURL=/&checkoutSessionId=${id}`);
    expect((await subscriber.rows()).map(({ plan, status }) => [plan, status])).to.deep.equal([['team', 'active']]);
  });

  it('changes, cancels and restores a subscription', async () => {
    stripe.state.subscribe({ customer: subscriber.customer, prices: [['price_pro', 1]] });
    await deliver();
    await post('/subscription/upgrade', { plan: 'pro', seats: 3 });
    stripe.state.edit((await subscriber.rows())[0]?.stripeSubscriptionId ?? '', (subscription) => {
      Object.assign(subscription, { discounts: ['di_spring'], trial_end: stripe.state.now + 1_000 });
    });
    await post('/subscription/upgrade', { plan: 'team', scheduleAtPeriodEnd: true });
    await post('/subscription/restore', {});
    await post('/subscription/upgrade', { plan: 'team' });
    await post('/subscription/upgrade', { plan: 'pro' });
    await post('/subscription/upgrade', { plan: 'team', scheduleAtPeriodEnd: true });
    await post('/subscription/cancel', {});
    await post('/subscription/billing-portal', { locale: 'en' });
    const cancel = createCancelSubscription(service.db, payments);
    const actor = { userId: null, email: null, impersonatedBy: null };
    await cancel(actor, { organizationId: subscriber.organizationId, immediately: false });
    await post('/subscription/restore', {});
    const [row] = await subscriber.rows();
    stripe.state.edit(row?.stripeSubscriptionId ?? '', (subscription) => {
      subscription.cancel_at = stripe.state.now + 1_000;
    });
    await post('/subscription/restore', {});
    await cancel(actor, { organizationId: subscriber.organizationId, immediately: true });
  });

  it('asks for what is unpaid, brings the seats to the members, and ends a customer', async () => {
    const { id } = stripe.state.subscribe({ customer: subscriber.customer, prices: [['price_team', 1]] });
    await deliver();
    stripe.state.renew(id, false);
    await deliver(2);
    expect(await syncSeats(payments, subscriber.organizationId)).to.deep.equal({ members: 1, changed: [id] });
    await subscriber.bring('member');
    expect(await syncSeats(payments, subscriber.organizationId)).to.deep.equal({ members: 2, changed: [id] });
    await reconcile(payments, { repair: true });
    expect(await syncCustomer(payments, subscriber.organizationId)).to.deep.equal({ renamed: true });
    await closeCustomers(service.db, payments, subscriber.organizationId);
    expect(stripe.subscriptions.get(id)?.status).to.equal('canceled');
  });

  it('was every call that the code makes', () => {
    const text = globSync('{activities,api,domain/payments}/**/*.ts')
      .map((file) => readFileSync(file, 'utf8'))
      .join('\n');
    const calls = [...text.matchAll(/\bstripe\s*\.((?:\w+\s*\.)+\s*\w+)\(/g)].map(([, call = '']) => call.replaceAll(/\s/g, ''));
    const sent = new Set(calls.filter((call) => !call.startsWith('webhooks.')));
    expect([...sent].sort()).to.deep.equal(Object.keys(requests));
    const unseen = Object.entries(requests).filter(([, pattern]) => !stripe.requests.some((request) => pattern.test(request)));
    expect(unseen.map(([call]) => call)).to.deep.equal([]);
    console.log(`        ${stripe.validated} requests were held against Stripe's document`);
  });
});
