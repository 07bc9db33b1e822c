import type Stripe from 'stripe';
import type { ServerConfig } from '../config/server.ts';
import type { PlanName } from '../contract/fields.ts';

/** A plan that can be bought, with its prices at Stripe. */
export interface SoldPlan {
  name: Exclude<PlanName, 'free'>;
  /** What is sold. */
  priceId: string;
  /** What is sold, and what was sold before: subscriptions to it go on. */
  priceIds: string[];
  /** The price of each member, if members are billed. */
  seatPriceId?: string;
  /** That, and the ones before. */
  seatPriceIds: string[];
}

/** The plans that have a price. */
export function soldPlans({ billing }: Pick<ServerConfig, 'billing'>): SoldPlan[] {
  return [...soldPlan('pro', billing.pricesPro, []), ...soldPlan('team', billing.pricesTeam, billing.seatPricesTeam)];
}

function soldPlan(name: SoldPlan['name'], priceIds: string[], seatPriceIds: string[]): SoldPlan[] {
  const [priceId] = priceIds;
  const [seatPriceId] = seatPriceIds;
  return priceId ? [{ name, priceId, priceIds, ...(seatPriceId && { seatPriceId }), seatPriceIds }] : [];
}

/** What a subscription is for: the plan, its item, and the item of its seats. If there is no plan, it is not one of ours. */
export function readItems(subscription: Stripe.Subscription, plans: SoldPlan[]) {
  const items = subscription.items.data;
  const plan = plans.find(({ priceIds }) => items.some(({ price }) => priceIds.includes(price.id)));
  const item = plan && items.find(({ price }) => plan.priceIds.includes(price.id));
  const seatItem = items.find(({ price }) => plan?.seatPriceIds.includes(price.id));
  return { plan, item, seatItem };
}

/** The seats that a subscription bills: its members, or as many of the plan as were bought. */
export function billedSeats(subscription: Stripe.Subscription, plans: SoldPlan[]): number | null {
  const { plan, item, seatItem } = readItems(subscription, plans);
  if (plan?.seatPriceId !== undefined) return seatItem?.quantity ?? 0;
  return (item ?? subscription.items.data[0])?.quantity ?? null;
}

/**
 * The changes of items that bring a subscription to a plan and a count of members; none if nothing differs. One that is of the plan keeps
 * its prices, also if others are sold by now.
 */
export function changesTo(
  plan: SoldPlan,
  subscription: Stripe.Subscription,
  { plans, members, quantity }: { plans: SoldPlan[]; members: number; quantity?: number | undefined },
): Stripe.SubscriptionUpdateParams.Item[] {
  const { item, plan: current } = readItems(subscription, plans);
  const isOfPlan = current?.name === plan.name;
  const kept = isOfPlan ? item?.quantity : 1;
  const wanted = plan.seatPriceId === plan.priceId ? members : ((plan.seatPriceId ? undefined : quantity) ?? kept ?? 1);
  const price = isOfPlan && item ? item.price.id : plan.priceId;
  const changes: Stripe.SubscriptionUpdateParams.Item[] = [];
  if (item && (item.price.id !== price || item.quantity !== wanted)) changes.push({ id: item.id, price, quantity: wanted });
  return [...changes, ...seatChangesTo(plan, subscription, { plans, members })];
}

/** The changes of the items of seats that stand beside the item of the plan. */
function seatChangesTo(
  plan: SoldPlan,
  subscription: Stripe.Subscription,
  { plans, members }: { plans: SoldPlan[]; members: number },
): Stripe.SubscriptionUpdateParams.Item[] {
  const besidePlans = plans.flatMap(({ seatPriceIds, priceIds }) => seatPriceIds.filter((id) => !priceIds.includes(id)));
  const [seatItem, ...more] = subscription.items.data.filter(({ price }) => besidePlans.includes(price.id));
  const none = plan.seatPriceId === undefined || plan.seatPriceId === plan.priceId;
  const superfluous = none && seatItem ? [seatItem, ...more] : more;
  const changes: Stripe.SubscriptionUpdateParams.Item[] = superfluous.map(({ id }) => ({ id, deleted: true }));
  if (none) return changes;
  if (!seatItem) return [{ price: plan.seatPriceId ?? '', quantity: members }, ...changes];
  const price = plan.seatPriceIds.includes(seatItem.price.id) ? seatItem.price.id : (plan.seatPriceId ?? '');
  if (seatItem.price.id === price && seatItem.quantity === members) return changes;
  return [{ id: seatItem.id, price, quantity: members }, ...changes];
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

/** The date of a Unix time in seconds, as Stripe has it; null without one. */
export function dateOf(seconds: number | null | undefined): Date | null {
  return seconds ? new Date(seconds * 1000) : null;
}
