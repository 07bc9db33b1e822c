import type { Logger } from 'pino';
import Stripe from 'stripe';
import type { ServerConfig } from '../config/server.ts';
import { ApiError } from '../contract/api-error.ts';
import { actorQuery } from '../db/actor.ts';
import type { Db } from '../db/connect.ts';
import { inTransaction } from '../db/transaction.ts';
import { type Actor, recordAudit } from '../domain/audit.ts';
import { howToEndSubscription } from '../domain/billing/end-subscription.ts';
import { findLiveSubscription, type SubscriptionRow } from '../domain/billing/find-subscription.ts';
import { storeSubscription } from './store-subscription.ts';
import { pricedPlans } from './stripe-plugin.ts';

interface Dependencies {
  config: Pick<ServerConfig, 'billing'>;
  db: Db;
  log: Logger;
  /** Absent while billing is off. */
  stripe: Stripe | undefined;
}

export interface Cancellation {
  organizationId: string;
  /** At once, instead of at the end of the paid period. */
  immediately: boolean;
}

/**
 * Cancels an organization's live subscription at Stripe, and writes its answer into the row. Throws
 * PRECONDITION_FAILED while billing is off, NOT_FOUND without a live subscription, SERVICE_UNAVAILABLE where Stripe does not do it.
 */
export type CancelSubscription = (
  actor: Actor,
  cancellation: Cancellation,
) => Promise<{ status: Stripe.Subscription.Status; cancelAtPeriodEnd: boolean }>;

export function createCancelSubscription({ config, db, log, stripe }: Dependencies): CancelSubscription {
  const plans = pricedPlans(config);
  return async (actor, { organizationId, immediately }) => {
    const row = await findLiveSubscription(db, organizationId);
    if (!stripe) throw billingIsOff(row);
    if (!row?.stripeSubscriptionId) throw noLiveSubscription();
    const askedAt = new Date();
    const { subscription, canceled } = await cancel(stripe, log, row.stripeSubscriptionId, immediately);
    await inTransaction(db, async (trx) => {
      if (canceled) {
        // The trigger on the table names the actor of the change of state, too.
        await trx.executeQuery(actorQuery(actor));
        await recordAudit(trx, actor, entryOf(row, immediately));
      }
      await storeSubscription(trx, subscription, { plans, askedAt });
    });
    if (!canceled) throw noLiveSubscription();
    return { status: subscription.status, cancelAtPeriodEnd: subscription.cancel_at_period_end };
  };
}

/** What Stripe answers; `canceled` is false where the subscription had ended there before, and only the row did not know. */
async function cancel(
  stripe: Stripe,
  log: Logger,
  id: string,
  immediately: boolean,
): Promise<{ subscription: Stripe.Subscription; canceled: boolean }> {
  try {
    const canceling = immediately ? stripe.subscriptions.cancel(id) : stripe.subscriptions.update(id, { cancel_at_period_end: true });
    return { subscription: await canceling, canceled: true };
  } catch (error) {
    const ended = error instanceof Stripe.errors.StripeInvalidRequestError ? await findEnded(stripe, id) : undefined;
    if (ended) return { subscription: ended, canceled: false };
    log.error({ err: error }, 'a subscription could not be canceled');
    throw new ApiError('SERVICE_UNAVAILABLE', { message: 'The payment provider did not cancel the subscription.' });
  }
}

/** The subscription where Stripe says that it is over. */
async function findEnded(stripe: Stripe, id: string): Promise<Stripe.Subscription | undefined> {
  const subscription = await stripe.subscriptions.retrieve(id).catch(() => undefined);
  return subscription?.status === 'canceled' || subscription?.status === 'incomplete_expired' ? subscription : undefined;
}

function entryOf(row: SubscriptionRow, immediately: boolean) {
  return {
    organizationId: row.referenceId,
    action: 'subscription.cancel',
    targetType: 'subscription',
    targetId: row.id,
    metadata: { plan: row.plan, immediately },
  };
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
