import { expect } from 'chai';
import pino from 'pino';
import { getPlan } from '../../../domain/billing/plan.ts';
import { listProblems } from '../../../domain/billing/problems.ts';
import { createPayments } from '../../../domain/payments/payments.ts';
import { reconcile } from '../../../domain/payments/reconcile.ts';
import { createSubscriber, type Subscriber, sendEvent } from './support/subscriber.ts';
import { useBilling } from './support/use-billing.ts';

describe('Checkouts of one organization', () => {
  const { stripe, service, subscriber } = useBilling();
  let played = 0;
  beforeEach(() => {
    stripe.hold = undefined;
    played = stripe.state.events.length;
  });

  const upgrade = (plan: string, client = subscriber.owner) =>
    client.post('/subscription/upgrade', { plan, referenceId: subscriber.organizationId, successUrl: '/', cancelUrl: '/' });
  const open = () =>
    [...stripe.state.sessions.values()].filter(({ customer, status }) => customer === subscriber.customer && status === 'open');
  const rows = async () => (await subscriber.rows()).map(({ plan, status, cancelAtPeriodEnd }) => [plan, status, cancelAtPeriodEnd]);
  const planName = async () => (await getPlan(service.db, service.config, subscriber.organizationId))?.plan;

  /** Lets requests to Stripe that match, of which there will be so many, go on only when all are there. */
  function meet(pattern: RegExp, count: number, moment: 'arrived' | 'done'): void {
    const all = Promise.withResolvers<void>();
    let waiting = 0;
    stripe.hold = (request, at) => {
      if (at !== moment || !pattern.test(request)) return undefined;
      if (++waiting === count) all.resolve();
      return all.promise;
    };
  }
  /** Delivers what has happened since the last time, in another order if one is given. */
  async function deliver(order: (events: typeof stripe.state.events) => typeof stripe.state.events = (events) => events): Promise<void> {
    for (const event of order(stripe.state.events.slice(played))) expect((await sendEvent(service, event)).status).to.equal(200);
    played = stripe.state.events.length;
  }

  for (const [when, pattern, moment] of [
    ['both begin before either is there', /^POST \/v1\/checkout\/sessions /, 'arrived'],
    ['both are there before either looks for others', /^POST \/v1\/checkout\/sessions /, 'done'],
    ['both have looked before either closes the other', /^GET \/v1\/checkout\/sessions /, 'done'],
  ] as const) {
    it(`are one if two members begin to buy the same at once: ${when}`, async () => {
      const { client } = await subscriber.bring('owner');
      meet(pattern, 2, moment);
      const [one, two] = await Promise.all([upgrade('pro'), upgrade('pro', client)]);
      expect([one.status, two.status]).to.deep.equal([200, 200]);
      expect(open()).to.have.length(1);
      expect([one.body.id, two.body.id]).to.include(open()[0]?.id);
      if (moment === 'done' && pattern.test('POST /v1/checkout/sessions ')) expect(two.body.url).to.equal(one.body.url);
    });

    it(`are one if two members begin to buy different plans at once: ${when}`, async () => {
      const { client } = await subscriber.bring('owner');
      meet(pattern, 2, moment);
      const answers = await Promise.all([upgrade('pro'), upgrade('team', client)]);
      expect(open()).to.have.length(1);
      const others = answers.filter(({ body }) => body.id !== open()[0]?.id);
      expect(others).to.have.length(1);
      // Who was answered before the other one had begun has a checkout that is closed now, as if they had come one after the other.
      const closed = stripe.state.sessions.get(others[0]?.body.id)?.status ?? others[0]?.body.code;
      expect(closed).to.be.oneOf(
        moment === 'done' && pattern.test('POST /v1/checkout/sessions ') ? ['CHECKOUT_REPLACED'] : ['CHECKOUT_REPLACED', 'expired'],
      );
    });
  }

  it('are one of ten that begin at once', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => upgrade('pro')));
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]));
    expect(open()).to.have.length(1);
  });

  it('sell nothing more once one was paid while another began', async () => {
    const first = await upgrade('pro');
    stripe.hold = (request, moment) => {
      if (moment === 'done' && request.startsWith('POST /v1/checkout/sessions ')) stripe.state.pay(first.body.id);
      return undefined;
    };
    const second = await upgrade('team');
    // The plan that was just bought is changed in the portal.
    expect([second.status, second.body.url]).to.deep.equal([200, /^https:\/\/billing\.example\/.*/.exec(second.body.url)?.[0]]);
    expect(open()).to.deep.equal([]);
  });

  it('are closed when one is paid', async () => {
    const { body } = await upgrade('pro');
    const stray = { ...stripe.state.sessions.get(body.id), id: 'cs_stray' };
    stripe.state.sessions.set(stray.id, stray);
    stripe.state.pay(body.id);
    await deliver();
    expect(open()).to.deep.equal([]);
  });

  for (const [order, sort] of [
    ['in order', (events: typeof stripe.state.events) => events],
    ['reversed', (events: typeof stripe.state.events) => [...events].reverse()],
  ] as const) {
    it(`of which two were paid all the same, told ${order}: the better plan goes on, the other ends with its period, the operator is told`, async () => {
      const { body } = await upgrade('pro');
      const stray: Record<string, any> = structuredClone({ ...stripe.state.sessions.get(body.id), id: `cs_stray_${order}` });
      stray.line_items[0].price = 'price_team';
      stripe.state.sessions.set(stray.id, stray);
      const lesser = stripe.state.pay(body.id);
      stripe.state.pay(stray.id);
      await deliver(sort);
      await deliver(sort);
      expect(await rows()).to.have.deep.members([
        ['pro', 'active', true],
        ['team', 'active', false],
      ]);
      expect(await planName()).to.equal('team');
      const problems = async () => (await listProblems(service.db, 10)).map(({ kind, subject }) => [kind, subject]);
      expect(await problems()).to.deep.equal([['several-subscriptions', subscriber.customer]]);
      stripe.state.end(lesser.id);
      await deliver();
      expect(await problems()).to.deep.equal([]);
      expect(await planName()).to.equal('team');
    });
  }

  it('of which two of the same plan were paid: the older goes on', async () => {
    const { body } = await upgrade('pro');
    const stray = structuredClone({ ...stripe.state.sessions.get(body.id), id: 'cs_stray_same' });
    stripe.state.sessions.set(stray.id, stray);
    const older = stripe.state.pay(body.id);
    stripe.state.wait(1);
    const newer = stripe.state.pay(stray.id);
    await deliver((events) => [...events].reverse());
    expect([older, newer].map(({ cancel_at_period_end }) => cancel_at_period_end)).to.deep.equal([false, true]);
  });

  /** Two subscriptions that both were bought at a checkout; returns the lesser one. */
  async function buyTwice({ customer, organizationId: referenceId }: Subscriber): Promise<Record<string, any>> {
    const metadata = { referenceId };
    stripe.state.subscribe({ customer, prices: [['price_team', 1]], metadata });
    const lesser = stripe.state.subscribe({ customer, prices: [['price_pro', 1]], metadata });
    await deliver();
    return lesser;
  }

  it('of which two were paid: the lesser one ends also if a change was planned for it', async () => {
    const lesser = await buyTwice(subscriber);
    stripe.state.answer('POST', '/v1/subscription_schedules', { from_subscription: lesser.id });
    stripe.state.tell('checkout.session.completed', { object: 'checkout.session', subscription: lesser.id });
    await deliver();
    expect(lesser).to.include({ cancel_at_period_end: true, schedule: null });
  });

  it('of which two were paid by each of two customers: the daily comparison ends one though Stripe refuses the other', async () => {
    const lines: { customer: string }[] = [];
    const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
    const payments = createPayments({ ...service, log });
    if (!payments) throw new Error('Billing is off');
    const first = await buyTwice(subscriber);
    const second = await buyTwice(await createSubscriber(service, stripe));
    stripe.hold = (request, moment) => {
      // It is in a schedule again by the time.
      if (moment === 'arrived' && request.startsWith(`POST /v1/subscriptions/${first.id} `)) first.schedule = 'sub_sched_other';
      return undefined;
    };
    await reconcile(payments, { repair: true });
    expect([first, second].map(({ cancel_at_period_end }) => cancel_at_period_end)).to.deep.equal([false, true]);
    expect(lines.map(({ customer }) => customer)).to.deep.equal([subscriber.customer]);
  });

  for (const told of [true, false]) {
    it(`of which one was paid beside a trial of the dashboard: the paid one is changed, the trial ends, ${told ? 'as soon' : 'before'} as the payment is told`, async () => {
      const { body } = await upgrade('pro');
      const trial = stripe.state.subscribe({ customer: subscriber.customer, prices: [['price_team', 1]], trialDays: 14 });
      const paid = stripe.state.pay(body.id);
      if (told) {
        await deliver();
        expect([paid, trial].map(({ cancel_at_period_end }) => cancel_at_period_end)).to.deep.equal([false, true]);
      }
      stripe.requests.length = 0;
      expect((await upgrade('team')).status).to.equal(200);
      expect([paid, trial].map(({ cancel_at_period_end }) => cancel_at_period_end)).to.deep.equal([false, true]);
      expect(stripe.requests.some((request) => request.includes(`subscription_update_confirm][subscription]=${paid.id}`))).to.equal(true);
    });
  }

  it('leave two subscriptions alone that somebody began in the dashboard', async () => {
    const prices: [string, number][] = [['price_pro', 1]];
    const { id } = stripe.state.subscribe({ customer: subscriber.customer, prices });
    stripe.state.subscribe({ customer: subscriber.customer, prices });
    stripe.state.tell('checkout.session.completed', { object: 'checkout.session', subscription: id });
    await deliver();
    expect(await rows()).to.deep.equal([
      ['pro', 'active', false],
      ['pro', 'active', false],
    ]);
  });
});
