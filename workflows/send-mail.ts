import { CancellationScope, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { SendMailInput } from '../contract/intents/inputs.ts';

const activities = proxyActivities<Activities>({
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout: '20 seconds',
  scheduleToCloseTimeout: '3 days',
  retry: { initialInterval: '1 second', backoffCoefficient: 3, maximumInterval: '30 minutes' },
});

/** Sends one mail. Retries for three days, with increasing waits, unless the mail server refuses it for good or an operator cancels it. */
export async function sendMail({ mailId, kind }: SendMailInput): Promise<{ sent: boolean }> {
  setCurrentDetails(`The mail (${kind}) is being sent. While it waits, its pending activity says why.`);
  try {
    const { sent } = await activities.sendMail({ mailId });
    setCurrentDetails(sent ? 'The mail was sent.' : 'There is no such mail: it was sent before.');
    return { sent };
  } catch (error) {
    setCurrentDetails('The mail was not sent, and is not tried again.');
    await CancellationScope.nonCancellable(() => activities.stopMail({ mailId }));
    throw error;
  }
}
