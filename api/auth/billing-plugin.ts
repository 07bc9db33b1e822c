import type { BetterAuthPlugin } from 'better-auth';
import type { BillingContext } from './billing-context.ts';
import { portalEndpoints } from './portal-endpoints.ts';
import { stripeWebhook } from './stripe-webhook.ts';
import { subscriptionEndpoints } from './subscription-endpoints.ts';

/** Only the service writes these fields. A request that sets one is refused. */
const customer = { fields: { stripeCustomerId: { type: 'string', required: false, input: false } } } as const;

/**
 * Subscriptions of organizations, and the webhook at `/api/auth/stripe/webhook`. The paths are those of better-auth's own Stripe plugin, so
 * that its clients work. docs/decisions/billing.md says why that plugin is not used.
 */
export function billingPlugin(context: BillingContext) {
  return {
    id: 'stripe',
    schema: { organization: customer, user: customer },
    endpoints: { ...subscriptionEndpoints(context), ...portalEndpoints(context), stripeWebhook: stripeWebhook(context) },
  } satisfies BetterAuthPlugin;
}
