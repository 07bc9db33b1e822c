import { continueAsNew, setCurrentDetails } from '@temporalio/workflow';
import { signals } from '../contract/intents/definitions.ts';
import type { SyncSeatsInput, SyncSeatsResult } from '../contract/intents/inputs.ts';
import { activities, settleMs, workOnSettled } from './settled-changes.ts';

/** Sets the seats that Stripe bills to the organization's number of members, until that changes no more. */
export async function syncSeats({ organizationId }: SyncSeatsInput): Promise<SyncSeatsResult> {
  const result = await workOnSettled(signals.membersChanged, {
    wait: () => setCurrentDetails(`Organization ${organizationId}: waits ${settleMs / 1_000} s for further changes of members.`),
    async work() {
      setCurrentDetails(
        `Organization ${organizationId}: Stripe is brought to the count of members. While it waits, its pending activity says why.`,
      );
      const synced = await activities.syncSeats({ organizationId });
      setCurrentDetails(describe(synced));
      return synced;
    },
  });
  return result === undefined ? await continueAsNew<typeof syncSeats>({ organizationId }) : result;
}

function describe(result: SyncSeatsResult): string {
  if (!result) return 'Billing is off on the worker that was asked.';
  return `${result.members} members; ${result.changed.length} subscriptions were changed.`;
}
