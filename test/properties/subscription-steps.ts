import fc from 'fast-check';
import { type Model, pick, type Step, step } from './agreement.ts';
import { breaks, describeBreak, index } from './arbitraries.ts';
import type { Break } from './connection-breaker.ts';
import * as rules from './money-rules.ts';
import { dayMs, type SubscriptionState } from './money-state.ts';
import type { Tenant } from './tenant.ts';

const periodMs = 30 * dayMs;
const trialDays = 7;
const plans = fc.constantFrom('pro' as const, 'team' as const);

/** Whether the service is told at once of what happened at the provider, and what breaks while it takes the event. */
const told = fc.oneof({ weight: 4, arbitrary: fc.record({ at: breaks }) }, { weight: 1, arbitrary: fc.constant(undefined) });

function describeTold(news: { at: Break | undefined } | undefined): string {
  return news ? describeBreak(news.at) : ', its event is lost';
}

const subscribe = fc.record({ plan: plans, trial: fc.boolean(), news: told }).map(({ plan, trial, news }) =>
  step(
    `subscribe(${plan}${trial ? ', on trial' : ''}${describeTold(news)})`,
    ({ state }) => state.billing && state.subscriptions.length < 3,
    async (model, tenant) => {
      const { state } = model;
      const nowMs = Math.floor(state.now / 1_000) * 1_000;
      const trialEnd = trial ? nowMs + trialDays * dayMs : null;
      const { id } = tenant.service.stripe.state.subscribe({
        customer: tenant.customer,
        prices: [[`price_${plan}`, 1]],
        ...(trial && { trialDays }),
      });
      const status: 'trialing' | 'active' = trial ? 'trialing' : 'active';
      const ends = { unpaid: [], cancelAtPeriodEnd: false, cancelAt: null };
      const provider = { createdAt: nowMs, plan, status, periodEnd: trialEnd ?? nowMs + periodMs, trialEnd, ...ends };
      const subscription: SubscriptionState = { id, provider, row: 0, known: null };
      state.subscriptions.push(subscription);
      await tell(model, tenant, subscription, news);
    },
  ),
);

type Live = (subscription: SubscriptionState) => boolean;
const isLive: Live = ({ provider }) => provider.status !== 'canceled';

/** Something that happens at the provider to one of the subscriptions that it can happen to. */
function happening(
  text: string,
  applies: Live,
  happen: (subscription: SubscriptionState, model: Model, tenant: Tenant) => void | Promise<void>,
): fc.Arbitrary<Step> {
  return fc.record({ which: index, news: told }).map(({ which, news }) =>
    step(
      `${text}(${which}${describeTold(news)})`,
      ({ state }) => state.subscriptions.some(applies),
      async (model, tenant) => {
        const subscription = pick(model.state.subscriptions.filter(applies), which);
        await happen(subscription, model, tenant);
        await tell(model, tenant, subscription, news);
      },
    ),
  );
}

/** The period ends, if need be by waiting for it, and the next one begins. */
const renew = (paid: boolean) =>
  happening(
    paid ? 'renews' : 'renews unpaid',
    (each) => isLive(each) && !each.provider.cancelAtPeriodEnd,
    async ({ id, provider }, { state }, tenant) => {
      const due = provider.periodEnd;
      state.now = Math.max(state.now, due);
      tenant.service.stripe.state.renew(id, paid);
      await tenant.setTime(state.now);
      provider.periodEnd = due + periodMs;
      if (paid && provider.status === 'trialing') provider.status = 'active';
      if (paid) return;
      provider.status = 'past_due';
      provider.unpaid.push(due);
    },
  );

const pay = happening(
  'pays what is owed',
  ({ provider }) => provider.status === 'past_due',
  ({ id, provider }, _, tenant) => {
    tenant.service.stripe.state.recover(id);
    Object.assign(provider, { status: 'active', unpaid: [] });
  },
);

/** `free` stands for a price of something else. */
const change = fc.oneof(plans, fc.constant('free' as const)).chain((plan) =>
  happening(`changes to ${plan === 'free' ? 'something else' : plan}`, isLive, ({ id, provider }, _, tenant) => {
    tenant.service.stripe.state.edit(id, ({ items }) => {
      items.data[0].price = { ...items.data[0].price, id: `price_${plan}` };
    });
    provider.plan = plan;
  }),
);

const cancelAtEnd = fc.boolean().chain((on) =>
  happening(on ? 'is to end with its period' : 'is restored', isLive, ({ id, provider }, _, tenant) => {
    tenant.service.stripe.state.edit(id, (subscription) => {
      subscription.cancel_at_period_end = on;
    });
    provider.cancelAtPeriodEnd = on;
  }),
);

const cancelAt = fc.option(fc.integer({ min: 1, max: 60 })).chain((days) =>
  happening(days === null ? 'is to end no longer' : `is to end in ${days} days`, isLive, ({ id, provider }, { state }, tenant) => {
    const at = days === null ? null : Math.floor(state.now / 1_000) + (days * dayMs) / 1_000;
    tenant.service.stripe.state.edit(id, (subscription) => {
      subscription.cancel_at = at;
    });
    provider.cancelAt = at === null ? null : at * 1_000;
  }),
);

const end = happening('ends', isLive, ({ id, provider }, _, tenant) => {
  tenant.service.stripe.state.end(id);
  provider.status = 'canceled';
});

/** An event of any time comes, once more or at last. */
const event = fc.record({ which: fc.nat({ max: 60 }), at: breaks }).map(({ which, at }) =>
  step(
    `event ${which} comes${describeBreak(at)}`,
    ({ state }) => state.subscriptions.length > 0,
    async ({ state }, tenant) => {
      const sent = pick(tenant.service.stripe.state.events, which);
      const { object } = sent.data;
      const id = object.object === 'invoice' ? object.subscription : object.id;
      await tenant.untilDone(() => tenant.service.takeEvent(sent), at);
      const subscription = state.subscriptions.find((each) => each.id === id);
      if (subscription) rules.learn(state, subscription);
    },
  ),
);

const compare = breaks.map((at) =>
  step(
    `compares everything${describeBreak(at)}`,
    ({ state }) => state.subscriptions.length > 0,
    async ({ state }, tenant) => {
      await tenant.untilDone(() => tenant.service.act('reconcileBilling', { repair: true }), at);
      rules.learnAll(state);
    },
  ),
);

async function tell(
  { state }: Model,
  tenant: Tenant,
  subscription: SubscriptionState,
  news: { at: Break | undefined } | undefined,
): Promise<void> {
  const sent = tenant.service.stripe.state.events.at(-1);
  if (!news || !sent) return;
  await tenant.untilDone(() => tenant.service.takeEvent(sent), news.at);
  rules.learn(state, subscription);
}

export const subscriptionSteps: fc.Arbitrary<Step>[] = [
  ...[subscribe, subscribe, renew(true), renew(false), renew(false), pay, change, cancelAtEnd, cancelAt, end, event, compare],
];
