import { APIError, createAuthMiddleware, sessionMiddleware } from 'better-auth/api';
import Stripe from 'stripe';
import type { Permission } from '../../contract/access.ts';
import type { Organization } from '../../domain/payments/customers.ts';
import type { BillingContext } from './billing-context.ts';
import { isPermitted } from './membership.ts';

/**
 * Checks that the caller has the permission in the organization of the request: `referenceId`, else the session's active one. Passes on
 * the session and the organization.
 */
export function organizationAccess({ payments: { db } }: BillingContext, permission: Permission) {
  return createAuthMiddleware({ use: [sessionMiddleware] }, async (ctx) => {
    const { session } = ctx.context;
    const named = ctx.body?.referenceId ?? ctx.query?.referenceId;
    const organizationId = named ?? (session.session as { activeOrganizationId?: string | null }).activeOrganizationId;
    if (!organizationId)
      throw badRequest('ORGANIZATION_REFERENCE_ID_REQUIRED', 'Name the organization as referenceId, or set an active one');
    if (!(await isPermitted(db, organizationId, session.user.id, permission))) throw new APIError('FORBIDDEN', { code: 'FORBIDDEN' });
    const columns = ['id', 'name', 'stripeCustomerId'] as const;
    const organization: Organization = await db
      .selectFrom('organization')
      .select(columns)
      .where('id', '=', organizationId)
      .executeTakeFirstOrThrow();
    return { session, organization };
  });
}

export function badRequest(code: string, message: string): APIError {
  return new APIError('BAD_REQUEST', { code, message });
}

export const subscriptionNotFound = () => badRequest('SUBSCRIPTION_NOT_FOUND', 'Subscription not found');

/**
 * If Stripe refuses a request, the client gets its message and its code in capitals. Throws SERVICE_UNAVAILABLE if Stripe is unreachable or
 * fails itself. Any other failure, such as a wrong key, is an internal error.
 */
export async function orStripeRefusal<T>({ payments: { log } }: BillingContext, work: Promise<T>): Promise<T> {
  return await work.catch((err: unknown) => {
    if (err instanceof Stripe.errors.StripeInvalidRequestError) throw badRequest((err.code ?? 'STRIPE_REFUSED').toUpperCase(), err.message);
    if (!isAway(err)) throw err;
    log.warn({ err }, 'the payment provider did not serve a request');
    const message = 'The payment provider does not respond: try again in a moment.';
    throw new APIError('SERVICE_UNAVAILABLE', { code: 'SERVICE_UNAVAILABLE', message }, { 'Retry-After': '5' });
  });
}

function isAway(error: unknown): boolean {
  const { StripeConnectionError, StripeAPIError, StripeRateLimitError } = Stripe.errors;
  return [StripeConnectionError, StripeAPIError, StripeRateLimitError].some((kind) => error instanceof kind);
}

/** A path of the API's own origin, or the URL as it is. */
export function absoluteUrl({ config }: BillingContext, url: string): string {
  return /^[a-zA-Z][a-zA-Z0-9+\-.]*:/.test(url) ? url : `${config.apiUrl}${url.startsWith('/') ? url : `/${url}`}`;
}
