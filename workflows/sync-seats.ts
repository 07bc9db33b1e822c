import { continueAsNew, defineSignal, proxyActivities, setCurrentDetails, setHandler, sleep, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { type SyncSeatsInput, type SyncSeatsResult, signals } from './definitions.ts';

const membersChanged = defineSignal(signals.membersChanged);

const activities = proxyActivities<Activities>({
  startToCloseTimeout: '2 minutes',
  scheduleToCloseTimeout: '3 days',
  retry: { initialInterval: '2 seconds', maximumInterval: '30 minutes' },
});

/** Changes that come so close together become one at Stripe. */
const settleMs = 2_000;

/** Brings the seats that Stripe bills to the count of an organization's members, until no more members come or go. */
export async function syncSeats({ organizationId }: SyncSeatsInput): Promise<SyncSeatsResult> {
  let changed = false;
  setHandler(membersChanged, () => {
    changed = true;
  });
  for (;;) {
    setCurrentDetails(`Organization ${organizationId}: waits ${settleMs / 1_000} s for further changes of members.`);
    await sleep(settleMs);
    changed = false;
    setCurrentDetails(
      `Organization ${organizationId}: Stripe is brought to the count of members. While it waits, its pending activity says why.`,
    );
    const result = await activities.syncSeats({ organizationId });
    setCurrentDetails(describe(result));
    if (!changed) return result;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof syncSeats>({ organizationId });
  }
}

function describe(result: SyncSeatsResult): string {
  if (!result) return 'Billing is off on the worker that was asked.';
  return `${result.members} members; ${result.changed.length} subscriptions were changed.`;
}
