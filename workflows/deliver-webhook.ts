import { CancellationScope, defineSignal, proxyActivities, rootCause, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { signals, webhookTaskQueue } from '../contract/intents/definitions.ts';
import type { DeliverWebhookInput, DeliverWebhookResult } from '../contract/intents/inputs.ts';

const resent = defineSignal(signals.webhookResent);

const { sendWebhook } = proxyActivities<Activities>({
  taskQueue: webhookTaskQueue,
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: '20 seconds',
  // Ten attempts, also if the receiver asks for a day before each.
  scheduleToCloseTimeout: '12 days',
  // A failed attempt sets the time of the next one itself, by the schedule of Standard Webhooks. These waits are for lost attempts.
  retry: { initialInterval: '10 seconds', backoffCoefficient: 1 },
});

const { giveUpWebhook } = proxyActivities<Activities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});

/**
 * Delivers one event to one endpoint. Its attempts are those of one activity, over three days. A run that finds the delivery finished sends
 * nothing (docs/rules.md, the row decides).
 */
export async function deliverWebhook({ deliveryId }: DeliverWebhookInput): Promise<DeliverWebhookResult> {
  let again = false;
  setHandler(resent, () => {
    again = true;
  });
  for (;;) {
    again = false;
    setCurrentDetails('The pending activity shows the attempt, the last failure and when the next attempt begins.');
    const result = await sendWebhook({ deliveryId }).catch((error: unknown) => giveUp(deliveryId, error));
    setCurrentDetails(`The delivery has ended: ${result.status}.`);
    if (!again) return result;
  }
}

function giveUp(deliveryId: string, error: unknown): Promise<DeliverWebhookResult> {
  const reason = rootCause(error) ?? 'The attempts were given up.';
  return CancellationScope.nonCancellable(() => giveUpWebhook({ deliveryId, reason }));
}
