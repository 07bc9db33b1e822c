import { ApplicationFailure, Context } from '@temporalio/activity';
import { KeyedSemaphore } from '../base/concurrency/keyed-semaphore.ts';
import type { DeliverWebhookResult } from '../contract/intents/inputs.ts';
import {
  type AfterAttempt,
  findPendingDelivery,
  giveUpDelivery,
  isTest,
  type PendingDelivery,
  recordAttempt,
  unsendableReason,
} from '../domain/webhooks/attempt.ts';
import { bodyOf } from '../domain/webhooks/delivery.ts';
import { holdDelivery } from '../domain/webhooks/held-deliveries.ts';
import type { ActivityDeps } from './deps.ts';
import { withHeartbeats } from './progress.ts';

interface DeliveryInput {
  deliveryId: string;
}

/** How many requests to one endpoint a process makes at once, how many others wait, and how long. */
const atOnce = { limit: 8, maxWaiting: 8 };
const patienceMs = 5_000;
/** Temporal's timers may end this much too early. */
const inexactMs = 100;

type Webhooks = NonNullable<ActivityDeps['webhooks']>;
type Sendable = Pick<PendingDelivery, 'delivery'> & { endpoint: NonNullable<PendingDelivery['endpoint']> };

/** Requests to webhook endpoints. Without a sender webhooks are off, and no worker polls the queue of `sendWebhook`. */
export function webhookActivities({ db, webhooks, log, secrets }: ActivityDeps) {
  const permits = new KeyedSemaphore(atOnce);

  /** The delivery with its endpoint, or how it has ended. Throws a retryable failure if the delivery is not due yet. */
  async function findSendable(deliveryId: string): Promise<Sendable | DeliverWebhookResult> {
    const pending = await findPendingDelivery(db, deliveryId);
    if (!pending) return { status: 'gone' };
    const { delivery, endpoint, waitMs } = pending;
    const unsendable = unsendableReason(pending);
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

  /** Holds a delivery back, so that a slow receiver holds up only itself. A test ends at once, and says why. */
  async function putOff(delivery: PendingDelivery['delivery']): Promise<DeliverWebhookResult> {
    if (!isTest(delivery)) {
      await holdDelivery(db, delivery.id);
      return { status: 'held' };
    }
    await giveUpDelivery(db, delivery.id, `It was not sent: the endpoint still has ${atOnce.limit} requests to respond to.`);
    return { status: 'failed' };
  }

  /** Sends a delivery, and records the outcome and the next step. */
  async function attempt({ delivery, endpoint }: Sendable, { sender, retryDelaysMs }: Webhooks): Promise<AfterAttempt> {
    const { cancellationSignal } = Context.current();
    // Secrets that were encrypted with another AUTH_SECRET are lost.
    const [current, ...previous] = endpoint.secrets.map(secrets.tryOpen);
    if (current === undefined) {
      log.warn(
        { deliveryId: delivery.id, endpointId: delivery.endpoint_id },
        'the secret of an endpoint was encrypted with another AUTH_SECRET',
      );
      await giveUpDelivery(db, delivery.id, 'The endpoint needs a new secret.');
      return { status: 'failed' };
    }
    const signing = [current, ...previous.filter((secret) => secret !== undefined)];
    const request = { url: endpoint.url, id: delivery.event_id, body: bodyOf(delivery), secrets: signing };
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
        const release = await permits.acquire(found.delivery.endpoint_id, Context.current().cancellationSignal, patienceMs);
        if (!release) return await putOff(found.delivery);
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
