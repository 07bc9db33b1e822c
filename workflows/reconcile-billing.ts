import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { ReconcileBillingInput, ReconcileBillingResult } from '../contract/intents/inputs.ts';
import { checkInput, flag } from './check-input.ts';

const activities = proxyActivities<Activities>({
  startToCloseTimeout: '6 hours',
  heartbeatTimeout: '20 seconds',
  retry: { initialInterval: '1 minute', maximumInterval: '30 minutes', maximumAttempts: 10 },
});

/**
 * Once a day: compares subscriptions, seats and customers at the payment provider with the rows, repairs safe differences, and reports the
 * others (`npm run ops -- billing`). With `repair: false` it compares only. Throws InvalidInput.
 */
export async function reconcileBilling(input: ReconcileBillingInput = {}): Promise<ReconcileBillingResult> {
  checkInput(input, { repair: flag });
  const { repair = true } = input;
  setCurrentDetails(`Compares the payment provider with the rows${repair ? '' : ', and changes nothing'}.`);
  const result = await activities.reconcileBilling({ repair });
  setCurrentDetails(describe(result, repair));
  return result;
}

function describe(result: ReconcileBillingResult, repair: boolean): string {
  if (!result) return 'Billing is off.';
  const { subscriptions, different, seats, customers } = result;
  const found = `${subscriptions} subscriptions and ${customers} customers compared: ${different.length} rows and the seats of ${seats.length} were not right`;
  return `${found}${repair ? ', and are repaired' : ''}.`;
}
