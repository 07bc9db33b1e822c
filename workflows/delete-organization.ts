import { defineQuery, proxyActivities, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { queries } from '../contract/intents/definitions.ts';
import type { DeleteOrganizationInput, DeleteOrganizationResult } from '../contract/intents/inputs.ts';

const progress = defineQuery<{ step: string } & DeleteOrganizationResult>(queries.progress);

const { endOrganizationJobs, deleteOrganizationRows, drainObjects } = proxyActivities<Activities>({
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});
const { closeCustomers } = proxyActivities<Activities>({
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '20 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});
const { deleteOrganizationObjects } = proxyActivities<Activities>({
  startToCloseTimeout: '12 hours',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

/**
 * Deletes an organization that a request has marked: ends its customer at the payment provider, ends its jobs, and deletes its objects, its
 * rows, and the objects that were uploaded meanwhile. Returns how many objects were deleted, and how many the store refused, which
 * `deleteObjects` retries.
 */
export async function deleteOrganization({ organizationId }: DeleteOrganizationInput): Promise<DeleteOrganizationResult> {
  const counts: DeleteOrganizationResult = { objectsDeleted: 0, objectsFailed: 0 };
  let step = '';
  setHandler(progress, () => ({ step, ...counts }));

  // This comes first, since deleting objects may take hours in which an open checkout could still be paid.
  begin('ending it as a customer of the payment provider');
  await closeCustomers({ organizationId });
  begin('ending its jobs');
  await endOrganizationJobs({ organizationId });
  begin('deleting its objects');
  add(await deleteOrganizationObjects({ organizationId }));
  begin('deleting its rows');
  await deleteOrganizationRows({ organizationId });
  begin('deleting objects that came meanwhile');
  add(await deleteOrganizationObjects({ organizationId }));
  if (counts.objectsFailed > 0) await drainObjects({ organizationId });
  begin('done');
  return counts;

  function begin(next: string): void {
    step = next;
    setCurrentDetails(
      `Organization ${organizationId}: ${step}. ${counts.objectsDeleted} objects deleted, ${counts.objectsFailed} refused.`,
    );
  }

  /** Adds up the counts. An object that was refused the first time and deleted the second counts as deleted. */
  function add({ deleted, failed }: { deleted: number; failed: number }): void {
    counts.objectsDeleted += deleted;
    counts.objectsFailed = failed;
  }
}
