import type Stripe from 'stripe';
import type { ServerConfig } from '../config/server.ts';
import type { PlanName } from '../contract/fields.ts';

/** A plan that can be bought, with its prices at Stripe. */
export interface SoldPlan {
  name: Exclude<PlanName, 'free'>;
  priceId: string;
  /** The price of each member, if members are billed. */
  seatPriceId?: string;
}

/** The plans that have a price. */
export function soldPlans({ billing }: Pick<ServerConfig, 'billing'>): SoldPlan[] {
  const plans: SoldPlan[] = [];
  if (billing.pricePro) plans.push({ name: 'pro', priceId: billing.pricePro });
  if (billing.priceTeam) {
    plans.push({ name: 'team', priceId: billing.priceTeam, ...(billing.seatPriceTeam && { seatPriceId: billing.seatPriceTeam }) });
  }
  return plans;
}

/** What a subscription is for: the plan, its item, and the item of its seats. If there is no plan, it is not one of ours. */
export function readItems(subscription: Stripe.Subscription, plans: SoldPlan[]) {
  const items = subscription.items.data;
  const plan = plans.find(({ priceId }) => items.some(({ price }) => price.id === priceId));
  const item = plan && items.find(({ price }) => price.id === plan.priceId);
  const seatItem = plan?.seatPriceId === undefined ? undefined : items.find(({ price }) => price.id === plan.seatPriceId);
  return { plan, item, seatItem };
}

/** The seats that a subscription bills: its members, or as many of the plan as were bought. */
export function billedSeats(subscription: Stripe.Subscription, plans: SoldPlan[]): number | null {
  const { plan, item, seatItem } = readItems(subscription, plans);
  if (plan?.seatPriceId !== undefined) return seatItem?.quantity ?? 0;
  return (item ?? subscription.items.data[0])?.quantity ?? null;
}

/** The changes of items that bring a subscription to a plan and a count of members; none if nothing differs. */
export function changesTo(
  plan: SoldPlan,
  subscription: Stripe.Subscription,
  { plans, members, quantity }: { plans: SoldPlan[]; members: number; quantity?: number | undefined },
): Stripe.SubscriptionUpdateParams.Item[] {
  const { item, plan: current } = readItems(subscription, plans);
  const seatPrices = new Set(plans.flatMap(({ seatPriceId, priceId }) => (seatPriceId && seatPriceId !== priceId ? [seatPriceId] : [])));
  const seatItems = subscription.items.data.filter(({ price }) => seatPrices.has(price.id));
  const kept = current?.name === plan.name ? item?.quantity : 1;
  const wanted = plan.seatPriceId === plan.priceId ? members : ((plan.seatPriceId ? undefined : quantity) ?? kept ?? 1);
  const changes: Stripe.SubscriptionUpdateParams.Item[] = [];
  if (item && (item.price.id !== plan.priceId || item.quantity !== wanted)) {
    changes.push({ id: item.id, price: plan.priceId, quantity: wanted });
  }
  const seatPriceId = plan.seatPriceId === plan.priceId ? undefined : plan.seatPriceId;
  const [seatItem, ...more] = seatItems;
  if (seatPriceId && !seatItem) changes.push({ price: seatPriceId, quantity: members });
  if (seatPriceId && seatItem && (seatItem.price.id !== seatPriceId || seatItem.quantity !== members)) {
    changes.push({ id: seatItem.id, price: seatPriceId, quantity: members });
  }
  for (const { id } of seatPriceId ? more : seatItems) changes.push({ id, deleted: true });
  return changes;
}

const liveStatuses = new Set<string>(['active', 'trialing', 'past_due', 'unpaid', 'paused', 'incomplete']);

/** Whether a subscription costs money or may come back to life. */
export function isLiveStatus(status: string): boolean {
  return liveStatuses.has(status);
}

/** The id of what Stripe refers to, whether it sends the id alone or the whole object. */
export function idOf(reference: string | { id: string } | null | undefined): string | undefined {
  return typeof reference === 'string' ? reference : reference?.id;
}

export function dateOf(seconds: number | null | undefined): Date | null {
  return seconds ? new Date(seconds * 1000) : null;
}
