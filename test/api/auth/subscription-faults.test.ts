import { expect } from 'chai';
import { sql } from 'kysely';
import { findLiveSubscription } from '../../../domain/billing/find-subscription.ts';
import { getPlan } from '../../../domain/billing/plan.ts';
import { listProblems } from '../../../domain/billing/problems.ts';
import { syncSeats } from '../../../domain/payments/sync-seats.ts';
import { billingCommand } from '../../../ops/commands/billing.ts';
import { type OpsContext, OpsError } from '../../../ops/context.ts';
import { type StripeEvent, startStripeServer } from '../../lab/stripe-stand-in/stripe-server.ts';
import { billingOn, startAuthService } from './support/service.ts';
import { createSubscriber, sendEvent } from './support/subscriber.ts';
import { useBilling } from './support/use-billing.ts';

const pro: [string, number][] = [['price_pro', 1]];
const urls = { successUrl: '/', cancelUrl: '/' };

describe('A plan without a price', () => {
  it('is not sold, while the other is', async () => {
    const stripe = await startStripeServer();
    const { STRIPE_PRICE_TEAM, ...withoutTeam } = billingOn;
    const service = await startAuthService({ ...withoutTeam, STRIPE_API_BASE: stripe.url });
    const { owner, organizationId: referenceId } = await createSubscriber(service, stripe);
    const refused = await owner.post('/subscription/upgrade', { plan: 'team', referenceId });
    expect([refused.status, refused.body.code]).to.deep.equal([400, 'SUBSCRIPTION_PLAN_NOT_FOUND']);
    expect(stripe.requests).to.deep.equal([]);
    expect((await owner.post('/subscription/upgrade', { plan: 'pro', referenceId })).status).to.equal(200);
    await service.stop();
    await stripe.stop();
  });
});

describe('While Stripe does not respond', () => {
  const { stripe, service, subscriber } = useBilling();

  it('subscriptions are SERVICE_UNAVAILABLE', async () => {
    const { owner, organizationId: referenceId, customer } = subscriber;
    const row = { plan: 'pro', status: 'active', stripeCustomerId: customer, stripeSubscriptionId: `sub_of_${referenceId}` };
    await service.db
      .insertInto('subscription')
      .values({ id: referenceId, referenceId, ...row })
      .execute();
    stripe.available = false;
    const answers = await Promise.all([
      owner.post('/subscription/upgrade', { plan: 'team', referenceId, ...urls }),
      owner.post('/subscription/cancel', { referenceId, returnUrl: '/' }),
      owner.post('/subscription/restore', { referenceId }),
      owner.post('/subscription/billing-portal', { referenceId }),
    ]);
    stripe.available = true;
    const pairs = answers.map(({ status, body, headers }) => [status, body.code, headers.get('retry-after')]);
    expect(pairs).to.deep.equal(Array(4).fill([503, 'SERVICE_UNAVAILABLE', '5']));
    expect(service.errors).to.deep.equal([]);
  });
});

describe('While a table is locked', () => {
  const { service, subscriber } = useBilling();

  it('an event of Stripe is SERVICE_UNAVAILABLE, and is taken when it is sent again', async () => {
    const { customer } = subscriber;
    const object = { id: 'sub_locked', customer, status: 'canceled', metadata: {}, items: { data: [] } };
    const event = { id: 'evt_locked', type: 'customer.subscription.deleted', data: { object } };
    const send = () => sendEvent(service, event as unknown as StripeEvent);
    await service.db.transaction().execute(async (trx) => {
      await sql`lock table subscription, stripe_event in access exclusive mode`.execute(trx);
      const { status, body, headers } = await send();
      expect([status, body.code, headers.get('retry-after')]).to.deep.equal([503, 'SERVICE_UNAVAILABLE', '2']);
    });
    expect((await send()).status).to.equal(200);
    expect(service.errors).to.deep.equal([]);
  });
});

describe('A price that was raised', () => {
  const { stripe, service, payments, subscriber } = useBilling({
    STRIPE_PRICE_PRO: 'price_pro_new,price_pro',
    STRIPE_PRICE_TEAM: 'price_team_new,price_team',
    STRIPE_SEAT_PRICE_TEAM: 'price_seat_new,price_seat',
  });

  const subscribe = async (prices: [string, number][]): Promise<string> => {
    const { id } = stripe.state.subscribe({ customer: subscriber.customer, prices });
    const event = stripe.state.events.at(-1);
    if (event) expect((await sendEvent(service, event)).status).to.equal(200);
    return id;
  };
  const upgrade = (plan: string, more: object = {}) =>
    subscriber.owner.post('/subscription/upgrade', { plan, referenceId: subscriber.organizationId, ...urls, ...more });
  const itemsOf = (id: string) => stripe.subscriptions.get(id)?.items.data.map((item: any) => [item.price.id, item.quantity]);

  it('is what new customers pay', async () => {
    const { body } = await upgrade('team');
    const sold = stripe.state.sessions.get(body.id)?.line_items.map((item: any) => [item.price, item.quantity]);
    expect(sold).to.deep.equal([
      ['price_team_new', '1'],
      ['price_seat_new', '1'],
    ]);
  });

  it('leaves the subscriptions to the old one as they are, and sells no second one', async () => {
    const id = await subscribe([['price_pro', 1]]);
    expect((await subscriber.rows()).map(({ plan, status }) => [plan, status])).to.deep.equal([['pro', 'active']]);
    expect((await upgrade('pro')).body.code).to.equal('ALREADY_SUBSCRIBED_PLAN');
    expect(stripe.requests.filter((request) => request.startsWith('POST'))).to.deep.equal([]);
    expect(itemsOf(id)).to.deep.equal([['price_pro', 1]]);
  });

  it('is paid by who changes to the plan: the item of the old plan is changed, none is added beside it', async () => {
    const id = await subscribe([['price_pro', 1]]);
    expect((await upgrade('team')).status).to.equal(200);
    expect(itemsOf(id)).to.deep.equal([
      ['price_team_new', 1],
      ['price_seat_new', 1],
    ]);
  });

  it('is what a change leads to that is planned for the end of the period', async () => {
    const old = await subscribe([
      ['price_team', 1],
      ['price_seat', 1],
    ]);
    expect((await upgrade('pro', { scheduleAtPeriodEnd: true })).status).to.equal(200);
    const { phases } = stripe.state.schedules.get(stripe.subscriptions.get(old)?.schedule) ?? {};
    expect(phases[1].items).to.deep.equal([{ price: 'price_pro_new', quantity: '1' }]);
  });

  it('is not paid by members who join a plan at the old price', async () => {
    const id = await subscribe([
      ['price_team', 1],
      ['price_seat', 1],
    ]);
    await subscriber.bring('member');
    expect((await syncSeats(payments, subscriber.organizationId)).changed).to.deep.equal([id]);
    expect(itemsOf(id)).to.deep.equal([
      ['price_team', 1],
      ['price_seat', 2],
    ]);
    expect((await syncSeats(payments, subscriber.organizationId)).changed).to.deep.equal([]);
  });
});

describe('A subscription agrees with Stripe', () => {
  const { stripe, service, subscriber } = useBilling();
  let played = 0;
  beforeEach(async () => {
    await service.db.deleteFrom('mail').execute();
    played = stripe.state.events.length;
  });

  /** Delivers what has happened at Stripe since the last time. */
  async function deliver(): Promise<void> {
    for (; played < stripe.state.events.length; played++) await send(played);
  }
  async function send(index: number): Promise<void> {
    const event = stripe.state.events[index];
    if (event) expect((await sendEvent(service, event)).status).to.equal(200);
  }
  const planName = async () => (await getPlan(service.db, service.config, subscriber.organizationId))?.plan;
  const subscribe = async (values: object = {}) => {
    const { id } = stripe.state.subscribe({ customer: subscriber.customer, prices: pro, ...values });
    await deliver();
    return id as string;
  };
  const upgrade = (plan: string) =>
    subscriber.owner.post('/subscription/upgrade', { plan, referenceId: subscriber.organizationId, ...urls });
  const checkouts = () => stripe.requests.filter((request) => request.startsWith('POST /v1/checkout/sessions'));

  it('after somebody wanted to cancel it while it was past due', async () => {
    const id = await subscribe();
    stripe.state.renew(id, false);
    await deliver();
    expect(await subscriber.rows()).to.have.length(1);
    const answer = await subscriber.owner.post('/subscription/cancel', {
      referenceId: subscriber.organizationId,
      subscriptionId: id,
      returnUrl: '/',
    });
    expect(await subscriber.rows()).to.have.length(1);
    expect((await subscriber.rows())[0]).to.include({ status: 'past_due', stripeSubscriptionId: id });
    expect([answer.status, answer.body.url]).to.deep.equal([
      200,
      (answer.body.url as string).match(/^https:\/\/billing\.example\/.*/)?.[0],
    ]);
  });

  it('after an old event was sent again: since when it is past due stays, and the audit log tells nothing new', async () => {
    const id = await subscribe();
    const old = stripe.state.events.length - 1;
    stripe.state.edit(id, () => {});
    const stale = stripe.state.events.length - 1;
    stripe.state.renew(id, false);
    await deliver();
    const before = (await subscriber.rows())[0];
    expect(before?.status).to.equal('past_due');
    const entries = await subscriber.entries();
    await send(stale);
    await send(old);
    expect((await subscriber.rows())[0]).to.include({ status: 'past_due' });
    expect((await subscriber.rows())[0]?.pastDueSince).to.deep.equal(before?.pastDueSince);
    expect(await subscriber.entries()).to.deep.equal(entries);
  });

  it('after an event of another subscription of the same customer', async () => {
    const id = await subscribe();
    const other = stripe.state.subscribe({ customer: subscriber.customer, prices: [['price_of_an_add_on', 3]] });
    played++;
    stripe.state.edit(other.id, () => {});
    await deliver();
    expect(await subscriber.rows()).to.have.length(1);
    expect((await subscriber.rows())[0]).to.include({ stripeSubscriptionId: id, status: 'active', plan: 'pro', seats: 1 });
    stripe.state.end(other.id);
    await deliver();
    expect((await subscriber.rows())[0]).to.include({ stripeSubscriptionId: id, status: 'active' });
    expect(await subscriber.entries()).to.deep.equal(['subscription.create pro active']);
  });

  it('gives no plan once it is changed to a price of something else, and gives it again once that is taken back', async () => {
    const id = await subscribe();
    const changeTo = async (price: string) => {
      stripe.state.edit(id, ({ items }) => {
        items.data[0].price = { ...items.data[0].price, id: price };
      });
      await deliver();
    };
    await changeTo('price_of_an_add_on');
    expect(await planName()).to.equal('free');
    expect((await subscriber.rows())[0]).to.include({ plan: 'free', status: 'active', stripeSubscriptionId: id });
    stripe.state.now += 60;
    const bought = await subscribe();
    const shown = await findLiveSubscription(service.db, subscriber.organizationId);
    expect(shown).to.include({ plan: 'pro', stripeSubscriptionId: bought });
    expect(await listProblems(service.db, 10)).to.deep.equal([]);
    stripe.state.end(bought);
    await deliver();
    await changeTo('price_team');
    expect(await planName()).to.equal('team');
    const told = ['create pro active', 'update free active', 'create pro active', 'update pro canceled', 'update team active'];
    expect(await subscriber.entries()).to.deep.equal(told.map((entry) => `subscription.${entry}`));
  });

  it('keeps each of two subscriptions in a row of its own, whichever is told of first', async () => {
    const id = await subscribe();
    const team = stripe.state.subscribe({ customer: subscriber.customer, prices: [['price_team', 1]] });
    played++;
    stripe.state.edit(team.id, () => {});
    await deliver();
    const rows = (await subscriber.rows()).map(({ stripeSubscriptionId, plan }) => [stripeSubscriptionId, plan]);
    expect(rows).to.have.deep.members([
      [id, 'pro'],
      [team.id, 'team'],
    ]);
    expect(await planName()).to.equal('team');
  });

  for (const status of ['past_due', 'unpaid', 'incomplete', 'paused']) {
    it(`opens no second subscription when somebody upgrades while it is ${status}`, async () => {
      const id = await subscribe();
      stripe.state.edit(id, (subscription) => {
        subscription.status = status;
      });
      await deliver();
      for (const plan of ['pro', 'team']) {
        const answer = await upgrade(plan);
        expect([answer.status, answer.body.url]).to.deep.equal([
          200,
          (answer.body.url as string).match(/^https:\/\/billing\.example\/.*/)?.[0],
        ]);
      }
      expect(checkouts()).to.deep.equal([]);
      expect(stripe.subscriptions.get(id)?.items.data.map(({ price }: { price: { id: string } }) => price.id)).to.deep.equal(['price_pro']);
    });
  }

  it('opens no second subscription when Stripe knows of one whose events were lost', async () => {
    stripe.state.subscribe({ customer: subscriber.customer, prices: pro });
    const answer = await upgrade('pro');
    expect([answer.status, answer.body.code]).to.deep.equal([400, 'ALREADY_SUBSCRIBED_PLAN']);
    expect(checkouts()).to.deep.equal([]);
    expect(await planName()).to.equal('pro');
  });

  it('leaves one checkout open, however often somebody begins', async () => {
    const first = await upgrade('pro');
    const second = await upgrade('team');
    expect(stripe.state.sessions.get(first.body.id)?.status).to.equal('expired');
    expect(stripe.state.sessions.get(second.body.id)?.status).to.equal('open');
    stripe.state.pay(second.body.id);
    await deliver();
    expect((await subscriber.rows()).map(({ plan, status }) => [plan, status])).to.deep.equal([['team', 'active']]);
  });

  it('whatever the clock of the process says that stored the answer before', async () => {
    const id = await subscribe();
    const ahead = new Date(Date.now() + 3_600_000);
    await service.db.updateTable('subscription').set({ syncedAt: ahead }).where('stripeSubscriptionId', '=', id).execute();
    stripe.state.end(id);
    await deliver();
    expect((await subscriber.rows())[0]).to.include({ status: 'canceled' });
  });

  it('counts the days of dunning from the first unpaid renewal, however late it is told, and not from a mid-period invoice', async () => {
    const id = await subscribe();
    const due = stripe.state.subscriptions.get(id)?.items.data[0].current_period_end;
    stripe.state.renew(id, false);
    stripe.state.renew(id, false);
    await deliver();
    expect((await subscriber.rows())[0]?.pastDueSince).to.deep.equal(new Date(due * 1000));
    stripe.state.recover(id);
    await deliver();
    expect((await subscriber.rows())[0]).to.include({ status: 'active', pastDueSince: null });
    stripe.state.charge(id, 'subscription_update');
    await deliver();
    expect((await subscriber.rows())[0]).to.include({ status: 'past_due', pastDueSince: null });
  });

  it('counts the days of dunning from the day on which a sent invoice was due', async () => {
    const id = await subscribe();
    const invoice = stripe.state.renew(id);
    const due = invoice.created + 30 * 86_400;
    Object.assign(invoice, { status: 'open', due_date: due });
    stripe.state.edit(id, (subscription) => Object.assign(subscription, { collection_method: 'send_invoice', status: 'past_due' }));
    await deliver();
    expect((await subscriber.rows())[0]?.pastDueSince).to.deep.equal(new Date(due * 1000));
  });

  it('counts the days of dunning from the next unpaid renewal as soon as the first one is paid, or need not be paid', async () => {
    for (const [type, status] of [
      ['invoice.paid', 'paid'],
      ['invoice.voided', 'void'],
      ['invoice.marked_uncollectible', 'uncollectible'],
    ] as const) {
      const id = await subscribe();
      const first = stripe.state.renew(id, false);
      const { created } = stripe.state.renew(id, false);
      await deliver();
      first.status = status;
      stripe.state.tell(type, first);
      await deliver();
      const row = (await subscriber.rows()).find(({ stripeSubscriptionId }) => stripeSubscriptionId === id);
      expect([row?.status, row?.pastDueSince?.getTime()]).to.deep.equal(['past_due', created * 1000]);
    }
  });

  it('mails each owner once for an invoice that is not paid, and nobody for the first payment of a checkout', async () => {
    const id = await subscribe();
    const { email } = await subscriber.bring('owner');
    await subscriber.bring('admin');
    await service.db.updateTable('organization').set({ name: 'Pay at evil.example' }).where('id', '=', subscriber.organizationId).execute();
    const invoice = stripe.state.renew(id, false);
    stripe.state.failPayment(invoice.id);
    await deliver();
    const mails = () => service.db.selectFrom('mail').select(['recipient', 'kind', 'body']).where('kind', '=', 'payment-failed').execute();
    expect((await mails()).map(({ recipient }) => recipient)).to.have.members([subscriber.email, email]);
    expect((await mails())[0]?.body)
      .to.include(invoice.hosted_invoice_url)
      .and.include('of “Pay at evil example” has failed');
    stripe.state.charge(id, 'subscription_create');
    await deliver();
    expect(await mails()).to.have.length(2);
    stripe.state.renew(id, false);
    await deliver();
    expect(await mails()).to.have.length(4);
  });

  it('mails nobody for an invoice of something else: no plan ends if it stays unpaid', async () => {
    const id = await subscribe();
    stripe.state.edit(id, ({ items }) => {
      items.data[0].price = { ...items.data[0].price, id: 'price_of_an_add_on' };
    });
    stripe.state.failPayment(stripe.state.renew(id, false).id);
    await deliver();
    expect((await subscriber.rows())[0]).to.include({ plan: 'free', status: 'past_due' });
    expect(await service.db.selectFrom('mail').select('kind').where('kind', '=', 'payment-failed').execute()).to.deep.equal([]);
  });

  it('mails nobody for an invoice that was paid before its event came', async () => {
    const id = await subscribe();
    stripe.state.renew(id, false);
    stripe.state.recover(id);
    await deliver();
    expect(await service.db.selectFrom('mail').select('kind').where('kind', '=', 'payment-failed').execute()).to.deep.equal([]);
  });

  it('tells the operator of a customer that nobody knows, until its subscription has ended', async () => {
    const problems = async () => (await listProblems(service.db, 10)).map(({ kind, subject }) => [kind, subject]);
    const checkout = await upgrade('pro');
    await service.db.deleteFrom('organization').where('id', '=', subscriber.organizationId).execute();
    const { id } = stripe.state.pay(checkout.body.id);
    await deliver();
    await deliver();
    expect(await problems()).to.deep.equal([['unknown-customer', id]]);
    const told: string[] = [];
    const command = (args: string[]) =>
      billingCommand.run(args, { db: service.db, print: (line: string) => told.push(line) } as unknown as OpsContext);
    expect(await command([]).catch((error: unknown) => error)).to.be.instanceOf(OpsError);
    expect(told[1]).to.include(id).and.include(subscriber.organizationId).and.include('cancel it at Stripe and refund');
    stripe.state.end(id);
    await deliver();
    expect(await problems()).to.deep.equal([]);
    told.length = 0;
    await command(['--json']);
    expect(told).to.deep.equal(['{"problems":[]}']);
  });

  it('tells the operator of two live subscriptions, and of one that Stripe does not know', async () => {
    const problems = async () => (await listProblems(service.db, 10)).map(({ kind, subject }) => [kind, subject]);
    const id = await subscribe();
    const second = await subscribe();
    expect(await problems()).to.deep.equal([['several-subscriptions', subscriber.customer]]);
    stripe.state.end(second);
    await deliver();
    expect(await problems()).to.deep.equal([]);
    const kept = stripe.subscriptions.get(id) ?? {};
    stripe.subscriptions.delete(id);
    const event = { id: 'evt_of_none', type: 'customer.subscription.updated', data: { object: { id } } };
    expect((await sendEvent(service, event)).status).to.equal(200);
    const stays = (await subscriber.rows()).find(({ stripeSubscriptionId }) => stripeSubscriptionId === id);
    expect(stays).to.include({ status: 'active' });
    expect(await problems()).to.deep.equal([['subscription-missing', id]]);
    stripe.subscriptions.set(id, kept);
    expect((await sendEvent(service, event)).status).to.equal(200);
    expect(await problems()).to.deep.equal([]);
  });

  it('makes one customer for two purchases that begin at once', async () => {
    await service.db.updateTable('organization').set({ stripeCustomerId: null }).where('id', '=', subscriber.organizationId).execute();
    stripe.state.customers.delete(subscriber.customer);
    const outcomes = (await Promise.all([upgrade('pro'), upgrade('team')])).map(({ status, body }) => body.code ?? status);
    // Of two that begin at the very same instant only one checkout stays.
    expect(outcomes).to.include(200);
    expect([200, 'CHECKOUT_REPLACED']).to.include.members(outcomes);
    const ours = [...stripe.state.customers.values()].filter(({ metadata }) => metadata?.organizationId === subscriber.organizationId);
    expect(ours).to.have.length(1);
  });

  it('makes a customer although Stripe has failed to, which it repeats for a day', async () => {
    await service.db.updateTable('organization').set({ stripeCustomerId: null }).where('id', '=', subscriber.organizationId).execute();
    stripe.state.customers.delete(subscriber.customer);
    stripe.failing = (request) => request.startsWith('POST /v1/customers ');
    const refused = await upgrade('pro');
    expect([refused.status, refused.body.code]).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
    stripe.failing = undefined;
    expect((await upgrade('pro')).status).to.equal(200);
    const ours = [...stripe.state.customers.values()].filter(({ metadata }) => metadata?.organizationId === subscriber.organizationId);
    expect(ours).to.have.length(1);
  });

  it('changes at once, in the portal, or at the end of the period', async () => {
    const id = await subscribe();
    const now = await upgrade('team');
    expect(now.body.url).to.match(/billing\.example/);
    const later = await subscriber.owner.post('/subscription/upgrade', {
      ...{ plan: 'team', referenceId: subscriber.organizationId, scheduleAtPeriodEnd: true },
      ...urls,
    });
    expect(later.status).to.equal(200);
    const schedule = stripe.state.schedules.get(stripe.subscriptions.get(id)?.schedule);
    expect(schedule?.phases[1].items).to.deep.equal([{ price: 'price_team', quantity: '1' }]);
    expect((await subscriber.rows())[0]).to.include({ stripeScheduleId: schedule?.id, plan: 'pro' });
    expect((await subscriber.owner.post('/subscription/restore', { referenceId: subscriber.organizationId })).status).to.equal(200);
    expect((await subscriber.rows())[0]).to.include({ stripeScheduleId: null });
  });

  it('changes at once if a change was planned: in the portal, nobody might confirm what replaces it', async () => {
    const id = await subscribe();
    const planned = { plan: 'team', referenceId: subscriber.organizationId, scheduleAtPeriodEnd: true, ...urls };
    expect((await subscriber.owner.post('/subscription/upgrade', planned)).status).to.equal(200);
    expect(stripe.subscriptions.get(id)?.schedule).to.be.a('string');
    stripe.requests.length = 0;
    const { status, body } = await upgrade('team');
    expect([status, body.url]).to.deep.equal([200, `${service.url}/`]);
    expect(stripe.requests.filter((request) => request.startsWith('POST /v1/billing_portal'))).to.deep.equal([]);
    expect(stripe.subscriptions.get(id)?.schedule).to.equal(null);
    expect((await subscriber.rows())[0]).to.include({ plan: 'team', stripeScheduleId: null });
  });

  it('keeps its trial and its discount when a change is planned', async () => {
    const id = await subscribe({ trialDays: 14 });
    stripe.state.edit(id, (subscription) => {
      subscription.discounts = ['di_spring'];
    });
    const planned = await subscriber.owner.post('/subscription/upgrade', {
      ...{ plan: 'team', referenceId: subscriber.organizationId, scheduleAtPeriodEnd: true },
      ...urls,
    });
    expect(planned.status).to.equal(200);
    const { phases } = stripe.state.schedules.get(stripe.subscriptions.get(id)?.schedule) ?? {};
    expect(phases.map(({ discounts }: any) => discounts)).to.deep.equal([[{ discount: 'di_spring' }], [{ discount: 'di_spring' }]]);
    expect(phases.map(({ trial_end }: any) => Number(trial_end) || null)).to.deep.equal([stripe.subscriptions.get(id)?.trial_end, null]);
  });

  it('gives the plan on trial, and while the first payment after it is in its grace', async () => {
    const id = await subscribe({ trialDays: 14 });
    const { trial_start, trial_end } = stripe.subscriptions.get(id) ?? {};
    const row = async () => (await subscriber.rows())[0];
    expect(await row()).to.deep.include({
      status: 'trialing',
      trialStart: new Date(trial_start * 1000),
      trialEnd: new Date(trial_end * 1000),
    });
    expect(await planName()).to.equal('pro');
    expect((await upgrade('pro')).body.url).to.match(/billing\.example/);
    expect(checkouts()).to.deep.equal([]);
    stripe.state.renew(id, false);
    await deliver();
    expect(await row()).to.deep.include({ status: 'past_due', pastDueSince: new Date(trial_end * 1000) });
    expect(await planName()).to.equal('pro');
    stripe.state.end(id);
    await deliver();
    expect(await planName()).to.equal('free');
  });

  it('changes the one of several subscriptions that is named, and no other', async () => {
    const id = await subscribe();
    const second = await subscribe();
    const body = { plan: 'team', referenceId: subscriber.organizationId, scheduleAtPeriodEnd: true, ...urls };
    const unknown = await subscriber.owner.post('/subscription/upgrade', { ...body, subscriptionId: 'sub_of_another' });
    expect([unknown.status, unknown.body.code]).to.deep.equal([400, 'SUBSCRIPTION_NOT_FOUND']);
    expect((await subscriber.owner.post('/subscription/upgrade', { ...body, subscriptionId: second })).status).to.equal(200);
    expect([id, second].map((each) => stripe.subscriptions.get(each)?.schedule !== null)).to.deep.equal([false, true]);
    const restored = await subscriber.owner.post('/subscription/restore', {
      referenceId: subscriber.organizationId,
      subscriptionId: second,
    });
    expect(restored.status).to.equal(200);
    expect(stripe.subscriptions.get(second)?.schedule).to.equal(null);
  });

  it('after somebody at Stripe set a day on which it ends, moved it, and took it back: the audit log tells each', async () => {
    const id = await subscribe();
    const endAt = (at: number | null) =>
      stripe.state.edit(id, (subscription) => {
        subscription.cancel_at = at;
      });
    for (const at of [Date.parse('2030-02-01T00:00:00Z') / 1_000, Date.parse('2030-03-31T10:00:00Z') / 1_000, null]) {
      endAt(at);
      await deliver();
      // What did not change is not told again.
      endAt(at);
      await deliver();
    }
    const entries = await service.db
      .selectFrom('audit_entry')
      .select(['action', 'metadata'])
      .where('organization_id', '=', subscriber.organizationId)
      .where('action', 'like', 'subscription.%')
      .orderBy('id')
      .execute();
    const running = { plan: 'pro', status: 'active', cancelAtPeriodEnd: false };
    expect(entries.map(({ action, metadata }) => [action, metadata])).to.deep.equal([
      ['subscription.create', running],
      ['subscription.update', { ...running, cancelAt: '2030-02-01T00:00:00.000Z' }],
      ['subscription.update', { ...running, cancelAt: '2030-03-31T10:00:00.000Z' }],
      ['subscription.update', running],
    ]);
  });

  const beginDeletion = () =>
    service.db.insertInto('organization_deletion').values({ organization_id: subscriber.organizationId, requested_by: null }).execute();

  it('makes no customer for an organization that is being deleted', async () => {
    await service.db.updateTable('organization').set({ stripeCustomerId: null }).where('id', '=', subscriber.organizationId).execute();
    stripe.state.customers.delete(subscriber.customer);
    await beginDeletion();
    const answer = await upgrade('pro');
    expect([answer.status, answer.body.code]).to.deep.equal([404, 'ORGANIZATION_BEING_DELETED']);
    expect(
      [...stripe.state.customers.values()].filter(({ metadata }) => metadata?.organizationId === subscriber.organizationId),
    ).to.deep.equal([]);
  });

  it('sells nothing to a customer whose organization is being deleted, and changes no plan', async () => {
    await beginDeletion();
    expect((await upgrade('pro')).body.code).to.equal('ORGANIZATION_BEING_DELETED');
    const { id } = stripe.state.subscribe({ customer: subscriber.customer, prices: pro });
    expect((await upgrade('team')).body.code).to.equal('ORGANIZATION_BEING_DELETED');
    expect(stripe.requests.filter((request) => request.startsWith('POST'))).to.deep.equal([]);
    expect(stripe.subscriptions.get(id)?.items.data[0].price.id).to.equal('price_pro');
  });
});
