import { type StripePlan, stripe as stripePlugin } from '@better-auth/stripe';
import type { BetterAuthPlugin } from 'better-auth';
import { createAuthMiddleware } from 'better-auth/api';
import type Stripe from 'stripe';
import type { ServerConfig } from '../config/server.ts';
import type { Db } from '../db/connect.ts';
import { isPermitted } from './membership.ts';
import { syncSubscription } from './sync-subscription.ts';

/** Subscriptions of organizations, and the webhook at `/api/auth/stripe/webhook`. */
export function billingPlugins(config: ServerConfig, stripe: Stripe, db: Db) {
  const plans = pricedPlans(config);
  return [
    stripePlugin({
      stripeClient: stripe,
      stripeWebhookSecret: config.billing.webhookSecret ?? '',
      createCustomerOnSignUp: false,
      organization: { enabled: true },
      subscription: {
        enabled: true,
        plans,
        authorizeReference: ({ user, referenceId, action }) =>
          isPermitted(db, referenceId, user.id, action === 'list-subscription' ? 'billing:read' : 'billing:manage'),
      },
      // The plugin's own handlers log an error and answer 200, do not look at the order of events and take what an old one says.
      // This runs after them, asks Stripe what is true now, and throws, which makes Stripe send the event again.
      onEvent: (event) => syncSubscription({ db, stripe, plans }, event),
    }),
    organizationsOnly(),
  ] satisfies BetterAuthPlugin[];
}

/** The plans that can be bought: those that have a price at Stripe. */
export function pricedPlans({ billing }: Pick<ServerConfig, 'billing'>): StripePlan[] {
  const plans: StripePlan[] = [];
  if (billing.pricePro) plans.push({ name: 'pro', priceId: billing.pricePro });
  if (billing.priceTeam) {
    plans.push({ name: 'team', priceId: billing.priceTeam, ...(billing.seatPriceTeam && { seatPriceId: billing.seatPriceTeam }) });
  }
  return plans;
}

/** The plugin takes a user as the customer unless told otherwise; here an organization always is. */
function organizationsOnly(): BetterAuthPlugin {
  const customerType = 'organization';
  return {
    id: 'organizations-only',
    hooks: {
      before: [
        {
          matcher: (ctx) => ctx.path?.startsWith('/subscription/') ?? false,
          handler: createAuthMiddleware(async (ctx) => ({
            context: ctx.method === 'GET' ? { query: { ...ctx.query, customerType } } : { body: { ...ctx.body, customerType } },
          })),
        },
      ],
    },
  };
}
