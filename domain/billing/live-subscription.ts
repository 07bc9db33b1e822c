import { type RawBuilder, sql } from 'kysely';

/** A subscription that costs money or may become active again. */
export const isLive: RawBuilder<boolean> = sql<boolean>`(
  subscription.status in ('active', 'trialing', 'past_due', 'unpaid', 'paused', 'incomplete')
)`;

/** Whether a subscription goes on after its period or trial. */
const renews: RawBuilder<boolean> = sql<boolean>`(subscription."cancelAtPeriodEnd" is not true and subscription."cancelAt" is null)`;

/** Whether a subscription ends or changes its plan after its period, which can be revoked. */
export const hasPendingChange: RawBuilder<boolean> = sql<boolean>`(not ${renews} or subscription."stripeScheduleId" is not null)`;

/**
 * The one order of an organization's subscriptions. The first is shown, canceled and changed by an upgrade, and goes on if there are several:
 * one of a plan before one whose price is none of ours, one that gives its plan, then one that renews, then a paid one before a trial, the
 * best plan, the oldest. Of ended ones the latest.
 */
export const byRelevance: RawBuilder<unknown> = sql`
  ${isLive} desc, (${isLive} and subscription.plan <> 'free') desc, subscription.status in ('active', 'trialing') desc,
  subscription.status = 'past_due' desc, (${isLive} and ${renews}) desc, subscription.status = 'active' desc,
  (${isLive} and subscription.plan = 'team') desc,
  case when ${isLive} then subscription."createdAt" end, subscription."periodEnd" desc nulls last, subscription.id desc
`;
