import Stripe from 'stripe';
import { ApiError } from '../contract/api-error.ts';
import type { Db } from '../db/connect.ts';
import { inTransaction } from '../db/transaction.ts';
import type { Actor } from '../domain/audit.ts';
import { howToEndSubscription } from '../domain/billing/end-subscription.ts';
import { findLiveSubscription, type SubscriptionRow } from '../domain/billing/find-subscription.ts';
import { forgetCancellation, requestCancellation } from './cancellation-request.ts';
import { type FetchedSubscription, fetchSubscription } from './fetch-subscription.ts';
import type { Payments } from './payments.ts';
import { storeSubscription } from './store-subscription.ts';

export interface Cancellation {
  organizationId: string;
  /** At once, instead of at the end of the paid period. */
  immediately: boolean;
}

/**
 * Cancels an organization's live subscription at Stripe, and stores its new state. Throws PRECONDITION_FAILED while billing is off,
 * NOT_FOUND if there is no live subscription, SERVICE_UNAVAILABLE if Stripe fails.
 */
export type CancelSubscription = (
  actor: Actor,
  cancellation: Cancellation,
) => Promise<{ status: Stripe.Subscription.Status; cancelAtPeriodEnd: boolean }>;

export function createCancelSubscription(db: Db, payments: Payments | undefined): CancelSubscription {
  return async (actor, { organizationId, immediately }) => {
    const row = await findLiveSubscription(db, organizationId);
    if (!payments) throw billingIsOff(row);
    if (!row?.stripeSubscriptionId) throw noLiveSubscription();
    const repeated = await requestCancellation(db, row.id, { actor, immediately });
    const { fetched, canceled } = await cancel(payments, row.stripeSubscriptionId, immediately).catch(async (error: unknown) => {
      await forgetCancellation(db, row.id);
      throw error;
    });
    // It may have ended by an earlier request that was cut off.
    if (!canceled && !repeated) await forgetCancellation(db, row.id);
    await inTransaction(db, (trx) => storeSubscription(trx, fetched, payments.plans));
    if (!canceled) throw noLiveSubscription();
    const { status, cancel_at_period_end } = fetched.subscription;
    return { status, cancelAtPeriodEnd: cancel_at_period_end };
  };
}

/** `canceled` is false if the subscription had already ended at Stripe, and only the row was out of date. */
async function cancel(
  { db, stripe, log }: Payments,
  id: string,
  immediately: boolean,
): Promise<{ fetched: FetchedSubscription; canceled: boolean }> {
  let refusal: unknown;
  try {
    await (immediately ? stripe.subscriptions.cancel(id) : stripe.subscriptions.update(id, { cancel_at_period_end: true }));
    const fetched = await fetchSubscription({ db, stripe }, id);
    if (fetched) return { fetched, canceled: true };
  } catch (error) {
    refusal = error;
  }
  const ended = refusal instanceof Stripe.errors.StripeInvalidRequestError ? await findEnded({ db, stripe }, id) : undefined;
  if (ended) return { fetched: ended, canceled: false };
  log.error({ err: refusal }, 'a subscription could not be canceled');
  throw new ApiError('SERVICE_UNAVAILABLE', { message: 'The payment provider did not cancel the subscription.' });
}

/** The subscription if Stripe says that it is over. */
async function findEnded(payments: Pick<Payments, 'db' | 'stripe'>, id: string): Promise<FetchedSubscription | undefined> {
  const fetched = await fetchSubscription(payments, id).catch(() => undefined);
  const status = fetched?.subscription.status;
  return status === 'canceled' || status === 'incomplete_expired' ? fetched : undefined;
}

function billingIsOff(leftOver: SubscriptionRow | undefined): ApiError {
  const message = 'Billing is not configured on this deployment.';
  if (!leftOver) return new ApiError('PRECONDITION_FAILED', { message });
  const how = howToEndSubscription(leftOver.referenceId);
  return new ApiError('PRECONDITION_FAILED', { message: `${message} The subscription is left from before: ${how}.` });
}

function noLiveSubscription(): ApiError {
  return new ApiError('NOT_FOUND', { message: 'This organization has no live subscription.' });
}
