import { type RawBuilder, sql } from 'kysely';

/**
 * A subscription that costs money or may become active again. An unfinished checkout does not count: the payment provider has no
 * subscription for it yet.
 */
export const isLive: RawBuilder<boolean> = sql<boolean>`(
  subscription.status in ('active', 'trialing', 'past_due', 'unpaid', 'paused')
  or (subscription.status = 'incomplete' and subscription."stripeSubscriptionId" is not null)
)`;

/** With billing off the table is empty, and no plan counts. */
const givesPlan: RawBuilder<boolean> = sql<boolean>`gives_plan(
  subscription.status, subscription."pastDueSince", subscription."periodEnd", coalesce((select max(dunning_days) from plan_limit), 0)
)`;

/** The order that puts the subscription to show first: the live one that gives the plan, a paid one before a trial, else the latest. */
export const byRelevance: RawBuilder<unknown> = sql`
  ${isLive} desc, ${givesPlan} desc, subscription.status in ('active', 'trialing', 'past_due') desc, subscription.plan = 'team' desc,
  subscription.status = 'trialing', subscription."periodEnd" desc nulls last, subscription.id desc
`;

/** Leaves out unfinished checkouts. */
export const isSubscription: RawBuilder<boolean> = sql<boolean>`(
  subscription.status <> 'incomplete' or subscription."stripeSubscriptionId" is not null
)`;
