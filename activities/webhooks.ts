import { ApplicationFailure, Context } from '@temporalio/activity';
import { KeyedSemaphore } from '../concurrency/keyed-semaphore.ts';
import type { Release } from '../concurrency/semaphore.ts';
import {
  type AfterAttempt,
  findPendingDelivery,
  giveUpDelivery,
  type PendingDelivery,
  recordAttempt,
  whyUnsendable,
} from '../domain/webhooks/attempt.ts';
import { bodyOf } from '../domain/webhooks/delivery.ts';
import type { DeliverWebhookResult } from '../workflows/inputs.ts';
import type { ActivityDeps } from './deps.ts';
import { withHeartbeats } from './progress.ts';

interface DeliveryInput {
  deliveryId: string;
}

/** How many requests to one endpoint a process makes at once, how many wait, and how many of those wait for an endpoint that fails. */
const all = { limit: 8, maxWaiting: 8 };
const failing = { limit: 2, maxWaiting: 1 };
const patienceMs = 5_000;
/** Temporal's timers may end this much too early. */
const inexactMs = 100;

type Webhooks = NonNullable<ActivityDeps['webhooks']>;
type Sendable = Pick<PendingDelivery, 'delivery'> & { endpoint: NonNullable<PendingDelivery['endpoint']> };

/** Requests to webhook endpoints. Without a sender webhooks are off, and no worker polls the queue of `sendWebhook`. */
export function webhookActivities({ db, webhooks, log }: ActivityDeps) {
  const permits = { all: new KeyedSemaphore(all), failing: new KeyedSemaphore(failing) };

  /** The delivery with its endpoint, or how it has ended. Throws a retryable failure if the delivery is not due yet. */
  async function findSendable(deliveryId: string): Promise<Sendable | DeliverWebhookResult> {
    const pending = await findPendingDelivery(db, deliveryId);
    if (!pending) return { status: 'gone' };
    const { delivery, endpoint, waitMs } = pending;
    const unsendable = whyUnsendable(pending);
    if (unsendable !== undefined || !endpoint) {
      await giveUpDelivery(db, deliveryId, unsendable ?? '');
      return { status: 'failed' };
    }
    if (waitMs <= inexactMs) return { delivery, endpoint };
    throw ApplicationFailure.create({
      type: 'NotDue',
      message: 'This attempt came before its time; it waits, and is not counted.',
      nextRetryDelay: Math.ceil(waitMs),
    });
  }

  /** Throws a retryable failure if too many requests to this endpoint wait already: a slow receiver delays only itself. */
  async function enter({ delivery, endpoint }: Sendable): Promise<Release> {
    const { info, cancellationSignal } = Context.current();
    const fails = endpoint.failing_since !== null;
    const releases: Release[] = [];
    const release = () => {
      for (const each of releases) each();
    };
    try {
      for (const semaphore of fails ? [permits.failing, permits.all] : [permits.all]) {
        const permit = await semaphore.acquire(delivery.endpoint_id, cancellationSignal, patienceMs);
        if (!permit) throw busy(info.attempt, fails);
        releases.push(permit);
      }
      return release;
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Sends a delivery, and records the outcome and the next step. */
  async function attempt({ delivery, endpoint }: Sendable, { sender, retryDelaysMs }: Webhooks): Promise<AfterAttempt> {
    const { cancellationSignal } = Context.current();
    const request = { url: endpoint.url, id: delivery.event_id, body: bodyOf(delivery), secrets: endpoint.secrets };
    const result = await sender.send(request, cancellationSignal);
    // The worker stops: the outcome of the request is not known, so the attempt does not count.
    cancellationSignal.throwIfAborted();
    return await recordAttempt(db, delivery, { url: endpoint.url, ...result }, retryDelaysMs);
  }

  return {
    /** Makes one attempt. A failure sets the time of the next one; the last is recorded in the row and returned. */
    async sendWebhook({ deliveryId }: DeliveryInput): Promise<DeliverWebhookResult> {
      if (!webhooks) throw ApplicationFailure.retryable('Webhooks are off in this process.', 'WebhooksOff');
      const found = await findSendable(deliveryId);
      if ('status' in found) return found;
      const after = await withHeartbeats(async () => {
        const release = await enter(found);
        try {
          // The endpoint may have changed during the wait, or be gone.
          const sendable = await findSendable(deliveryId);
          return 'status' in sendable ? sendable : await attempt(sendable, webhooks);
        } finally {
          release();
        }
      });
      if (after.status === 'superseded') throw ApplicationFailure.retryable('Another attempt was recorded meanwhile.', 'Superseded');
      if (after.status === 'pending')
        throw ApplicationFailure.create({ type: 'DeliveryFailed', message: after.error, nextRetryDelay: after.delayMs });
      log.info({ deliveryId, event: found.delivery.event, status: after.status }, 'webhook delivery ended');
      return { status: after.status };
    },

    /** Ends a delivery whose attempts Temporal has given up. */
    async giveUpWebhook({ deliveryId, reason }: DeliveryInput & { reason: string }): Promise<DeliverWebhookResult> {
      await giveUpDelivery(db, deliveryId, reason.slice(0, 500));
      return { status: 'failed' };
    },
  };
}

/** The failure if too many wait: Temporal retries it later, and sooner if the endpoint does not fail. */
function busy(attempt: number, fails: boolean): ApplicationFailure {
  const longestMs = fails ? Math.min(300_000, 5_000 * 2 ** Math.min(attempt, 6)) : 2_000;
  return ApplicationFailure.create({
    type: 'EndpointBusy',
    message: 'Too many requests to this endpoint are under way; this one waits, and no attempt is counted.',
    nextRetryDelay: Math.round(longestMs * (0.5 + Math.random() / 2)),
  });
}
