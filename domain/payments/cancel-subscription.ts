import Stripe from 'stripe';
import { ApiError } from '../../contract/api-error.ts';
import type { Db } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { Actor } from '../audit.ts';
import { findLiveSubscription } from '../billing/find-subscription.ts';
import { forgetCancellation, requestCancellation } from './cancellation-request.ts';
import { type FetchedSubscription, fetchSubscription } from './fetch-subscription.ts';
import type { Payments } from './payments.ts';
import { detachSchedule } from './schedules.ts';
import { storeSubscription } from './store-subscription.ts';

interface Cancellation {
  organizationId: string;
  /** At once, instead of at the end of the paid period. */
  immediately: boolean;
}

/**
 * Cancels an organization's live subscription at Stripe, and stores its new state. Throws PRECONDITION_FAILED while billing is off,
 * NOT_FOUND if there is no live subscription, SERVICE_UNAVAILABLE if Stripe refuses, or the outcome is unknown.
 */
export type CancelSubscription = (
  actor: Actor,
  cancellation: Cancellation,
) => Promise<{ status: Stripe.Subscription.Status; cancelAtPeriodEnd: boolean }>;

/** Returns the function that cancels subscriptions. `payments` is undefined while billing is off. */
export function createCancelSubscription(db: Db, payments: Payments | undefined): CancelSubscription {
  return async (actor, { organizationId, immediately }) => {
    if (!payments) throw new ApiError('PRECONDITION_FAILED', { message: 'Billing is not configured on this deployment.' });
    const row = await findLiveSubscription(db, organizationId);
    if (!row?.stripeSubscriptionId) throw noLiveSubscription();
    const repeated = await requestCancellation(db, row.id, { actor, immediately });
    const outcome = await cancel(payments, row.stripeSubscriptionId, immediately);
    const { fetched } = outcome;
    // The request stays recorded while it may have taken effect, so that a later update of the row audits it. So does an earlier,
    // interrupted request.
    if (isOver(outcome) && !repeated) await forgetCancellation(db, row.id);
    if (fetched) await inTransaction(db, (trx) => storeSubscription(trx, fetched, payments));
    if (outcome.result === 'had ended') throw noLiveSubscription();
    if (outcome.result === 'canceled') return stateOf(outcome.fetched);
    payments.log.error({ err: outcome.error }, 'a subscription could not be canceled');
    throw new ApiError('SERVICE_UNAVAILABLE', { message: failures[outcome.result] });
  };
}

function stateOf({ subscription: { status, cancel_at_period_end } }: FetchedSubscription) {
  return { status, cancelAtPeriodEnd: cancel_at_period_end };
}

/** The outcome of a cancellation; `fetched` is Stripe's last response, if any. */
type Outcome =
  | { result: 'canceled'; fetched: FetchedSubscription }
  | { result: 'had ended'; fetched: FetchedSubscription }
  | { result: 'refused' | 'unknown'; fetched?: FetchedSubscription | undefined; error: unknown };

function isOver({ result }: Outcome): boolean {
  return result === 'refused' || result === 'had ended';
}

const failures = {
  refused: 'The payment provider did not cancel the subscription.',
  unknown: 'The payment provider did not say whether it canceled the subscription. Try again later: canceling it twice is harmless.',
};

async function cancel({ db, stripe }: Payments, id: string, immediately: boolean): Promise<Outcome> {
  const find = () => fetchSubscription({ db, stripe }, id);
  let before: FetchedSubscription | undefined;
  try {
    before = await find();
  } catch (error) {
    // Stripe was not asked to cancel.
    return { result: 'refused', error };
  }
  if (before && hasEnded(before)) return { result: 'had ended', fetched: before };
  const error = await ask({ stripe }, { id, before, immediately }).then(
    () => undefined,
    (refusal: unknown) => refusal ?? new Error('Stripe failed'),
  );
  try {
    const fetched = await find();
    // The error may belong to a retry whose first attempt succeeded and lost its response.
    if (fetched && (hasEnded(fetched) || (!immediately && fetched.subscription.cancel_at_period_end)))
      return { result: 'canceled', fetched };
    return { result: isRefusal(error) ? 'refused' : 'unknown', fetched, error };
  } catch (lost) {
    return { result: 'unknown', error: error ?? lost };
  }
}

async function ask(
  { stripe }: Pick<Payments, 'stripe'>,
  { id, before, immediately }: { id: string; before: FetchedSubscription | undefined; immediately: boolean },
): Promise<void> {
  if (immediately) return void (await stripe.subscriptions.cancel(id));
  if (before) await detachSchedule({ stripe }, before.subscription);
  await stripe.subscriptions.update(id, { cancel_at_period_end: true });
}

function hasEnded({ subscription: { status } }: FetchedSubscription): boolean {
  return status === 'canceled' || status === 'incomplete_expired';
}

/** Whether Stripe says that it did nothing. After any other error the request may have taken effect, or may still do so. */
function isRefusal(error: unknown): boolean {
  const status = error instanceof Stripe.errors.StripeError ? (error.statusCode ?? 0) : 0;
  return status >= 400 && status < 500;
}

function noLiveSubscription(): ApiError {
  return new ApiError('NOT_FOUND', { message: 'This organization has no live subscription.' });
}
