import { APIError, createAuthEndpoint, getSessionFromCtx } from 'better-auth/api';
import { z } from 'zod';
import { openPortal } from '../../domain/payments/open-portal.ts';
import { idOf, isLiveStatus } from '../../domain/payments/plans.ts';
import { syncSubscription } from '../../domain/payments/sync-subscription.ts';
import type { BillingContext } from './billing-context.ts';
import { absoluteUrl, organizationAccess, orStripeRefusal, subscriptionNotFound } from './subscription-access.ts';
import { findSubscriptionId } from './subscription-endpoints.ts';

const cancelBody = z.object({
  referenceId: z.string().optional(),
  subscriptionId: z.string().optional(),
  customerType: z.string().optional(),
  returnUrl: z.string(),
  disableRedirect: z.boolean().default(false),
});

const portalBody = cancelBody.omit({ subscriptionId: true }).extend({ returnUrl: z.string().default('/'), locale: z.string().optional() });

const successQuery = z.looseObject({ callbackURL: z.string().optional(), checkoutSessionId: z.string().optional() });

/** Endpoints that redirect to Stripe's own pages, and back from a checkout. */
export function portalEndpoints(context: BillingContext) {
  const { payments } = context;
  const manages = organizationAccess(context, 'billing:manage');
  return {
    cancelSubscription: createAuthEndpoint('/subscription/cancel', { method: 'POST', body: cancelBody, use: [manages] }, async (ctx) => {
      const id = await findSubscriptionId(context, ctx.context.organization.id, ctx.body.subscriptionId);
      const row = await orStripeRefusal(context, syncSubscription(payments, id));
      if (!row?.stripeCustomerId || !isLiveStatus(row.status)) throw subscriptionNotFound();
      const opened = openPortal(payments, {
        customer: row.stripeCustomerId,
        return_url: absoluteUrl(context, ctx.body.returnUrl),
        flow_data: { type: 'subscription_cancel', subscription_cancel: { subscription: id } },
      });
      return ctx.json({ url: await orStripeRefusal(context, opened), redirect: !ctx.body.disableRedirect });
    }),

    createBillingPortal: createAuthEndpoint(
      '/subscription/billing-portal',
      { method: 'POST', body: portalBody, use: [manages] },
      async (ctx) => {
        const customer = ctx.context.organization.stripeCustomerId;
        if (!customer) throw new APIError('NOT_FOUND', { code: 'CUSTOMER_NOT_FOUND', message: 'The organization is no customer yet' });
        const { locale, returnUrl } = ctx.body;
        const opened = openPortal(payments, {
          customer,
          return_url: absoluteUrl(context, returnUrl),
          ...(locale && { locale: locale as 'auto' }),
        });
        return ctx.json({ url: await orStripeRefusal(context, opened), redirect: !ctx.body.disableRedirect });
      },
    ),

    subscriptionSuccess: createAuthEndpoint('/subscription/success', { method: 'GET', query: successQuery.optional() }, async (ctx) => {
      const { checkoutSessionId, callbackURL = '/' } = ctx.query ?? {};
      const isSignedIn = checkoutSessionId !== undefined && (await getSessionFromCtx(ctx)) !== null;
      // The webhook brings the same update soon, so a failure here only delays the plan.
      if (isSignedIn)
        await followCheckout(context, checkoutSessionId).catch((err) => payments.log.warn({ err }, 'a checkout was not read'));
      const url = callbackURL.replaceAll('{CHECKOUT_SESSION_ID}', encodeURIComponent(checkoutSessionId ?? ''));
      throw ctx.redirect(absoluteUrl(context, url));
    }),
  };
}

async function followCheckout({ payments }: BillingContext, sessionId: string): Promise<void> {
  const { subscription } = await payments.stripe.checkout.sessions.retrieve(sessionId);
  const id = idOf(subscription);
  if (id) await syncSubscription(payments, id);
}
