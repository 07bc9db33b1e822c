import { expect } from 'chai';
import { sql } from 'kysely';
import Stripe from 'stripe';
import { getPlan } from '../../../domain/billing/plan.ts';
import { thisMonth } from '../../../domain/credits/budgets.ts';
import { newId } from '../../../domain/ids.ts';
import { syncWebhookSwitch } from '../../../domain/webhooks/sync-switch.ts';
import { type StripeServer, startStripeServer, subscriptionOf } from '../../lab/stripe-stand-in/stripe-server.ts';
import type { Client } from './support/client.ts';
import { type AuthService, billingOn, startAuthService } from './support/service.ts';

describe('Subscriptions', () => {
  let stripe: StripeServer;
  let service: AuthService;
  let owner: Client;
  let organizationId: string;
  let customer: string;
  before(async () => {
    stripe = await startStripeServer();
    service = await startAuthService({ ...billingOn, STRIPE_API_BASE: stripe.url });
  });
  after(async () => {
    await service.stop();
    await stripe.stop();
  });
  beforeEach(async () => {
    owner = service.client();
    await owner.enter();
    organizationId = await owner.createOrganization();
    customer = `cus_of_${organizationId}`;
    stripe.state.addCustomer(customer, organizationId);
    await service.db.updateTable('organization').set({ stripeCustomerId: customer }).where('id', '=', organizationId).execute();
    stripe.requests.length = 0;
  });

  let events = 0;
  function send(type: string, object: unknown, id = `evt_${++events}`) {
    const payload = JSON.stringify({ id, object: 'event', type, data: { object } });
    const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret: 'whsec_test' });
    return service.client().post('/stripe/webhook', JSON.parse(payload), { 'stripe-signature': signature });
  }
  const rows = () => service.db.selectFrom('subscription').selectAll().where('referenceId', '=', organizationId).execute();
  const planName = async () => (await getPlan(service.db, service.config, organizationId))?.plan;
  const sub = (id: string, status: string, price = 'price_pro') => subscriptionOf(id, { customer, price, status });

  it('follow the webhook, with what the provider says when asked again', async () => {
    const created = sub('sub_1', 'active');
    stripe.subscriptions.set('sub_1', created);
    expect((await send('customer.subscription.created', created)).status).to.equal(200);
    expect(await rows()).to.have.length(1);
    expect((await rows())[0]).to.include({
      plan: 'pro',
      status: 'active',
      stripeSubscriptionId: 'sub_1',
      billingInterval: 'month',
      seats: 1,
    });
    expect(await planName()).to.equal('pro');

    stripe.subscriptions.set('sub_1', sub('sub_1', 'active', 'price_team'));
    await send('customer.subscription.updated', sub('sub_1', 'active', 'price_team'));
    expect(await planName()).to.equal('team');
    // An event that comes late, or again, says what was true then.
    await send('customer.subscription.updated', created, 'evt_late');
    await send('customer.subscription.updated', created, 'evt_late');
    expect(await planName()).to.equal('team');

    stripe.subscriptions.set('sub_1', sub('sub_1', 'past_due', 'price_team'));
    const renewal = { id: 'in_1', subscription: 'sub_1', status: 'open', billing_reason: 'subscription_cycle', created: 1_700_000_000 };
    stripe.state.invoices.set('in_1', renewal);
    await send('invoice.payment_failed', { id: 'in_1', parent: { subscription_details: { subscription: 'sub_1' } } });
    expect((await rows())[0]).to.include({ status: 'past_due' });
    expect((await rows())[0]?.pastDueSince).to.deep.equal(new Date(1_700_000_000_000));

    stripe.subscriptions.set('sub_1', sub('sub_1', 'canceled', 'price_team'));
    await send('customer.subscription.deleted', stripe.subscriptions.get('sub_1'));
    expect(await planName()).to.equal('free');
    expect(await rows()).to.have.length(1);
    expect((await rows())[0]).to.include({ pastDueSince: null });
  });

  it('tell once that the credits are used up, if a smaller plan makes them so', async () => {
    const { db, config } = service;
    const limit = config.plans.free.aiCredits;
    await syncWebhookSwitch(db, true);
    const endpoint = { id: newId(), organization_id: organizationId, url: 'https://hooks.example.com/', secret: 'whsec_c2VjcmV0' };
    await db
      .insertInto('webhook_endpoint')
      .values({ ...endpoint, events: ['credits.low', 'credits.exhausted'], signature: 'v1' })
      .execute();
    await sql`insert into credit_month (organization_id, month, used) values (${organizationId}, ${thisMonth}, ${limit + 1})`.execute(db);
    const told = () =>
      db.selectFrom('webhook_delivery').select(['event', 'data']).where('organization_id', '=', organizationId).orderBy('event').execute();
    stripe.subscriptions.set('sub_credits', sub('sub_credits', 'active'));
    await send('customer.subscription.created', stripe.subscriptions.get('sub_credits'));
    expect(await told()).to.deep.equal([]);

    stripe.subscriptions.set('sub_credits', sub('sub_credits', 'canceled'));
    for (let time = 0; time < 2; time++) {
      await send('customer.subscription.deleted', stripe.subscriptions.get('sub_credits'));
      const deliveries = await told();
      expect(deliveries.map(({ event }) => event)).to.deep.equal(['credits.exhausted', 'credits.low']);
      for (const { data } of deliveries) expect(data).to.include({ organizationId, used: limit + 1, limit, plan: 'free' });
    }
  });

  it('keep the newer of two answers, whichever is stored last', async () => {
    stripe.subscriptions.set('sub_2', sub('sub_2', 'active'));
    await send('customer.subscription.created', stripe.subscriptions.get('sub_2'));
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let waiting = () => {};
    const asked = new Promise<void>((resolve) => {
      waiting = resolve;
    });
    stripe.beforeAnswer = async () => {
      stripe.beforeAnswer = undefined;
      waiting();
      await held;
    };
    const old = send('customer.subscription.trial_will_end', sub('sub_2', 'active'));
    await asked;
    stripe.subscriptions.set('sub_2', sub('sub_2', 'canceled'));
    await send('customer.subscription.deleted', stripe.subscriptions.get('sub_2'));
    release();
    expect((await old).status).to.equal(200);
    expect((await rows())[0]).to.include({ status: 'canceled' });
  });

  it('have the provider send an event again when it could not be asked', async () => {
    stripe.available = false;
    const object = sub('sub_3', 'active');
    const failed = await send('customer.subscription.trial_will_end', object);
    stripe.available = true;
    expect(failed.status).to.equal(400);
    const { rows: seen } = await service.database.pool.query(
      `select from stripe_event where type = 'customer.subscription.trial_will_end' and id = 'evt_${events}'`,
    );
    expect(seen).to.deep.equal([]);
  });

  it('take no event with a wrong signature, and none of a customer that is unknown', async () => {
    const payload = { id: 'evt_forged', object: 'event', type: 'customer.subscription.created', data: { object: sub('sub_4', 'active') } };
    expect((await service.client().post('/stripe/webhook', payload, { 'stripe-signature': 't=1,v1=00' })).status).to.equal(400);
    expect((await service.client().post('/stripe/webhook', payload)).status).to.equal(400);
    const unknown = { ...sub('sub_5', 'active'), customer: 'cus_unknown' };
    stripe.subscriptions.set('sub_5', unknown);
    expect((await send('customer.subscription.created', unknown)).status).to.equal(200);
    expect(await rows()).to.deep.equal([]);
  });

  it('take no event that is signed and is none', async () => {
    for (const none of [null, 1, 'text', [], {}, { id: 'evt_1', type: 'customer.created' }, { id: 1, type: 'x', data: { object: {} } }]) {
      const signature = Stripe.webhooks.generateTestHeaderString({ payload: JSON.stringify(none), secret: 'whsec_test' });
      const { status, body } = await service.client().post('/stripe/webhook', none, { 'stripe-signature': signature });
      expect([status, body.code], JSON.stringify(none)).to.deep.equal([400, 'FAILED_TO_CONSTRUCT_STRIPE_EVENT']);
    }
  });

  it('lead back from a checkout to a trusted origin only, however it is written', async () => {
    const goOn = async (callbackURL: string) => {
      const { status, headers, body } = await service.client().get(`/subscription/success?callbackURL=${callbackURL}`);
      return [status, body?.code ?? headers.get('location')];
    };
    const trusted = 'https://app.example.com';
    for (const wrong of ['%5C@evil.example', '/%5C%5Cevil.example', '/%0D%0AX:%20y', '/%F0%9F%98%80'])
      expect(await goOn(`${trusted}${wrong}`), wrong).to.deep.equal([403, 'INVALID_CALLBACK_URL']);
    expect(await goOn(`${trusted}&callbackURL=/x`)).to.deep.equal([400, 'VALIDATION_ERROR']);
    expect(await goOn(`${trusted}/plans?x=%25`)).to.deep.equal([302, `${trusted}/plans?x=%`]);
  });

  it('begin with a checkout of the organization, also when nobody says who the customer is', async () => {
    const answer = await owner.post('/subscription/upgrade', { plan: 'pro', referenceId: organizationId, successUrl: '/', cancelUrl: '/' });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    const checkout = stripe.requests.find((request) => request.startsWith('POST /v1/checkout/sessions'));
    expect(checkout).to.include(`client_reference_id=${organizationId}`).and.include(`customer=${customer}`).and.include('price_pro');
    // Nothing is written before Stripe has a subscription.
    expect(await rows()).to.deep.equal([]);
    expect(await planName()).to.equal('free');

    const done = subscriptionOf('sub_6', { customer, price: 'price_pro', status: 'active' });
    stripe.subscriptions.set('sub_6', done);
    await send('checkout.session.completed', { id: 'cs_1', mode: 'subscription', subscription: 'sub_6', metadata: {} });
    expect(await rows()).to.have.length(1);
    expect((await rows())[0]).to.include({ status: 'active', stripeSubscriptionId: 'sub_6' });
  });

  it('are managed by who holds billing:manage, of that organization', async () => {
    const upgrade = (by: Client, referenceId = organizationId) =>
      by.post('/subscription/upgrade', { plan: 'pro', referenceId, successUrl: '/', cancelUrl: '/' });
    const member = service.client();
    await owner.bring({ client: member, email: (await member.enter()).email }, { organizationId });
    const stranger = service.client();
    const { userId } = await stranger.enter();
    for (const client of [member, stranger]) {
      expect((await upgrade(client)).status).to.equal(403);
      expect((await client.get(`/subscription/list?referenceId=${organizationId}`)).status).to.equal(403);
      expect((await client.post('/subscription/billing-portal', { referenceId: organizationId, returnUrl: '/' })).status).to.equal(403);
    }
    expect((await upgrade(stranger, userId)).status).to.equal(403);
    const withoutReference = await stranger.post('/subscription/upgrade', {
      plan: 'pro',
      customerType: 'user',
      successUrl: '/',
      cancelUrl: '/',
    });
    expect(withoutReference.status).to.equal(400);
    expect(stripe.requests).to.deep.equal([]);
    const admin = service.client();
    await owner.bring({ client: admin, email: (await admin.enter()).email }, { organizationId, role: 'admin' });
    expect((await upgrade(admin)).status).to.equal(200);
  });

  it('let no user name a customer as theirs', async () => {
    expect((await owner.post('/update-user', { stripeCustomerId: customer })).status).to.equal(400);
    const signUp = await service
      .client()
      .post('/sign-up/email', { name: 'X', email: 'cus@example.com', password: 'a long password', stripeCustomerId: customer });
    expect(signUp.status).to.equal(400);
    expect(stripe.requests).to.deep.equal([]);
  });
});
