import { continueAsNew, setCurrentDetails } from '@temporalio/workflow';
import { signals } from '../contract/intents/definitions.ts';
import type { SyncCustomerInput, SyncCustomerResult } from '../contract/intents/inputs.ts';
import { activities, settleMs, workOnSettled } from './settled-changes.ts';

/** Gives the organization's customer at Stripe the organization's name, until it changes no more. */
export async function syncCustomer({ organizationId }: SyncCustomerInput): Promise<SyncCustomerResult> {
  const result = await workOnSettled(signals.organizationChanged, {
    wait: () => setCurrentDetails(`Organization ${organizationId}: waits ${settleMs / 1_000} s for further changes of its name.`),
    async work() {
      setCurrentDetails(`Organization ${organizationId}: its customer gets its name. While it waits, its pending activity says why.`);
      const synced = await activities.syncCustomer({ organizationId });
      setCurrentDetails(describe(synced));
      return synced;
    },
  });
  return result === undefined ? await continueAsNew<typeof syncCustomer>({ organizationId }) : result;
}

function describe(result: SyncCustomerResult): string {
  if (!result) return 'Billing is off on the worker that was asked.';
  return result.renamed ? 'The customer has a new name.' : 'The customer had the name.';
}
