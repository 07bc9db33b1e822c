import type { SubscriptionStatus } from '../../contract/fields.ts';
import type { SubscriptionRow } from '../../domain/billing/find-subscription.ts';

/** A subscription as its organization sees it. */
export function toSubscription(subscription: SubscriptionRow) {
  return {
    id: subscription.id,
    plan: subscription.plan,
    status: subscription.status as SubscriptionStatus,
    seats: subscription.seats,
    periodEnd: subscription.periodEnd?.toISOString() ?? null,
    trialEnd: subscription.trialEnd?.toISOString() ?? null,
    cancelAtPeriodEnd: subscription.cancelAtPeriodEnd ?? false,
    cancelAt: subscription.cancelAt?.toISOString() ?? null,
    billingInterval: subscription.billingInterval,
  };
}

/** Whether the last renewal is unpaid. The plan ends if it stays unpaid. */
export function hasPaymentFailed(subscription: SubscriptionRow | undefined): boolean {
  return subscription?.status === 'past_due' || subscription?.status === 'unpaid';
}
