import type Stripe from 'stripe';
import type { ServerConfig } from '../../base/config/server.ts';
import type { PlanName } from '../../contract/fields.ts';

/** A plan that can be bought, with its prices at Stripe. */
export interface SoldPlan {
  name: Exclude<PlanName, 'free'>;
  /** The price that is sold. */
  priceId: string;
  /** The present and former prices: subscriptions to former ones go on. */
  priceIds: string[];
  /** The price for each member, if members are billed. */
  seatPriceId?: string;
  /** The present and former prices for members. */
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

/** The plan of a subscription, its item, and the item of its seats. Without a plan it is not one of ours. */
export function readItems(subscription: Stripe.Subscription, plans: SoldPlan[]) {
  const items = subscription.items.data;
  const plan = plans.find(({ priceIds }) => items.some(({ price }) => priceIds.includes(price.id)));
  const item = plan && items.find(({ price }) => plan.priceIds.includes(price.id));
  const seatItem = items.find(({ price }) => plan?.seatPriceIds.includes(price.id));
  return { plan, item, seatItem };
}

/** The seats that a subscription bills: its members, or the bought quantity of the plan. */
export function billedSeats(subscription: Stripe.Subscription, plans: SoldPlan[]): number | null {
  const { plan, item, seatItem } = readItems(subscription, plans);
  if (plan?.seatPriceId !== undefined) return seatItem?.quantity ?? 0;
  return (item ?? subscription.items.data[0])?.quantity ?? null;
}

/**
 * The changes of items that give a subscription a plan and a number of members; none if nothing differs. A subscription that already has
 * the plan keeps its prices, even if others are sold by now.
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

/** The changes of the seat items besides the plan's item. */
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

/** Whether a subscription costs money or may become active again. */
export function isLiveStatus(status: string): boolean {
  return liveStatuses.has(status);
}

/** The id of a reference, whether Stripe sends only the id or the whole object. */
export function idOf(reference: string | { id: string } | null | undefined): string | undefined {
  return typeof reference === 'string' ? reference : reference?.id;
}

/** The date of a Unix time in seconds, as Stripe sends it; null without one. */
export function dateOf(seconds: number | null | undefined): Date | null {
  return seconds ? new Date(seconds * 1000) : null;
}
