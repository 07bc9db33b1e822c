import { APIError, createAuthEndpoint } from 'better-auth/api';
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { ApiError } from '../../contract/api-error.ts';
import { byRelevance, hasPendingChange, isLive } from '../../domain/billing/live-subscription.ts';
import { buyPlan } from '../../domain/payments/buy-plan.ts';
import { fetchSubscription } from '../../domain/payments/fetch-subscription.ts';
import type { SoldPlan } from '../../domain/payments/plans.ts';
import type { Purchase } from '../../domain/payments/purchase.ts';
import { releaseSchedule } from '../../domain/payments/schedules.ts';
import { syncSubscription } from '../../domain/payments/sync-subscription.ts';
import type { BillingContext } from './billing-context.ts';
import { absoluteUrl, badRequest, organizationAccess, orStripeRefusal, subscriptionNotFound } from './subscription-access.ts';

const upgradeBody = z.object({
  plan: z.string(),
  annual: z.boolean().optional(),
  referenceId: z.string().optional(),
  subscriptionId: z.string().optional(),
  customerType: z.string().optional(),
  metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).optional(),
  seats: z.number().int().min(1).optional(),
  locale: z.string().optional(),
  successUrl: z.string().default('/'),
  cancelUrl: z.string().default('/'),
  returnUrl: z.string().optional(),
  scheduleAtPeriodEnd: z.boolean().default(false),
  disableRedirect: z.boolean().default(false),
});

const reference = z.object({ referenceId: z.string().optional(), customerType: z.string().optional() });

/** Endpoints that buy, change and list subscriptions. */
export function subscriptionEndpoints(context: BillingContext) {
  const { payments } = context;
  const manages = organizationAccess(context, 'billing:manage');
  return {
    upgradeSubscription: createAuthEndpoint(
      '/subscription/upgrade',
      {
        method: 'POST',
        body: upgradeBody,
        use: [manages],
      },
      async (ctx) => {
        const { organization, session } = ctx.context;
        const plan = payments.plans.find(({ name }) => name === ctx.body.plan.toLowerCase());
        if (!plan) throw badRequest('SUBSCRIPTION_PLAN_NOT_FOUND', 'Subscription plan not found');
        if (ctx.body.annual) throw badRequest('PRICE_NOT_FOUND', 'The plan has no annual price');
        const purchase = { ...toPurchase(context, ctx.body, plan), organization, userId: session.user.id };
        const bought = await orStripeRefusal(context, buyPlan(payments, purchase)).catch(toAuthError);
        if ('refused' in bought) {
          throw refusals[bought.refused]();
        }
        const redirect = !ctx.body.disableRedirect;
        return ctx.json('checkout' in bought ? { ...bought.checkout, redirect } : { url: bought.url, redirect });
      },
    ),

    listActiveSubscriptions: createAuthEndpoint(
      '/subscription/list',
      { method: 'GET', query: reference.optional(), use: [organizationAccess(context, 'billing:read')] },
      async (ctx) => {
        const rows = await payments.db
          .selectFrom('subscription')
          .selectAll()
          .where('referenceId', '=', ctx.context.organization.id)
          .where('status', 'in', ['active', 'trialing'])
          .orderBy('id')
          .execute();
        const priceOf = (name: string) => payments.plans.find((plan) => plan.name === name)?.priceId;
        return ctx.json(rows.map(({ syncedAt, syncedFetch, pastDueSince, ...row }) => ({ ...row, priceId: priceOf(row.plan) })));
      },
    ),

    restoreSubscription: createAuthEndpoint(
      '/subscription/restore',
      { method: 'POST', body: reference.extend({ subscriptionId: z.string().optional() }), use: [manages] },
      async (ctx) => {
        const organizationId = ctx.context.organization.id;
        const id = await findSubscriptionId(context, organizationId, ctx.body.subscriptionId, sql`${hasPendingChange} desc`);
        return ctx.json(await orStripeRefusal(context, restore(context, id)));
      },
    ),
  };
}

const refusals = {
  SUBSCRIPTION_NOT_FOUND: subscriptionNotFound,
  ALREADY_SUBSCRIBED_PLAN: () => badRequest('ALREADY_SUBSCRIBED_PLAN', "You're already subscribed to this plan"),
  CHECKOUT_REPLACED: () =>
    new APIError('CONFLICT', { code: 'CHECKOUT_REPLACED', message: 'Another member began the checkout of another plan at the same time' }),
};

function toPurchase(context: BillingContext, body: z.infer<typeof upgradeBody>, plan: SoldPlan): Omit<Purchase, 'organization' | 'userId'> {
  const { successUrl, cancelUrl, returnUrl = '/' } = body;
  const success = `${context.config.apiUrl}/api/auth/subscription/success?callbackURL=${encodeURIComponent(successUrl)}&checkoutSessionId={CHECKOUT_SESSION_ID}`;
  return {
    plan,
    subscriptionId: body.subscriptionId,
    quantity: body.seats,
    metadata: body.metadata && Object.fromEntries(Object.entries(body.metadata).map(([key, value]) => [key, String(value)])),
    locale: body.locale,
    atPeriodEnd: body.scheduleAtPeriodEnd,
    urls: { success, cancel: absoluteUrl(context, cancelUrl), return: absoluteUrl(context, returnUrl) },
  };
}

/** Converts the error for an organization that is being deleted. */
function toAuthError(error: unknown): never {
  if (!(error instanceof ApiError)) throw error;
  throw new APIError('NOT_FOUND', { code: 'ORGANIZATION_BEING_DELETED', message: error.message });
}

/** Stripe's id of a live subscription of the organization: the named one, else the first by `order`, then in the order of all. */
export async function findSubscriptionId(
  { payments: { db } }: BillingContext,
  organizationId: string,
  named?: string,
  order: RawBuilder<unknown> = byRelevance,
): Promise<string> {
  const row = await db
    .selectFrom('subscription')
    .select('stripeSubscriptionId')
    .where('referenceId', '=', organizationId)
    .where('stripeSubscriptionId', 'is not', null)
    .where(isLive)
    .$if(named !== undefined, (query) => query.where('stripeSubscriptionId', '=', named ?? ''))
    .orderBy(order)
    .orderBy(byRelevance)
    .limit(1)
    .executeTakeFirst();
  if (!row?.stripeSubscriptionId) throw subscriptionNotFound();
  return row.stripeSubscriptionId;
}

/** Revokes a cancellation or change of plan that was scheduled for the end of the period. */
async function restore({ payments }: BillingContext, id: string) {
  const fetched = await fetchSubscription(payments, id);
  if (!fetched) throw subscriptionNotFound();
  const { subscription } = fetched;
  if (!['active', 'trialing', 'past_due'].includes(subscription.status))
    throw badRequest('SUBSCRIPTION_NOT_ACTIVE', 'Subscription is not active');
  if (!(await releaseSchedule(payments, subscription))) {
    const { cancel_at, cancel_at_period_end } = subscription;
    if (!cancel_at && !cancel_at_period_end) {
      // An interrupted request may have left the row unchanged after Stripe revoked it.
      await syncSubscription(payments, id);
      throw badRequest('SUBSCRIPTION_NOT_PENDING_CHANGE', 'Subscription has no pending cancellation or scheduled plan change');
    }
    await payments.stripe.subscriptions.update(id, cancel_at_period_end ? { cancel_at_period_end: false } : { cancel_at: '' });
  }
  await syncSubscription(payments, id);
  return await payments.stripe.subscriptions.retrieve(id);
}
