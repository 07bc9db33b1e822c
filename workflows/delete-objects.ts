import {
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { queries, signals } from '../contract/intents/definitions.ts';
import type { DeleteObjectsInput } from '../contract/intents/inputs.ts';

const objectsAdded = defineSignal(signals.objectsAdded);
const progress = defineQuery<{ deleted: number; failing: number }>(queries.progress);

const { deleteObjectBatch } = proxyActivities<Activities>({
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

/**
 * Deletes the stored objects of an organization whose rows are gone, until none is left (docs/rules.md, objects after rows). An object that
 * the store refuses to delete is retried after increasing waits, and shown to the operator.
 */
export async function deleteObjects({ organizationId, ...before }: DeleteObjectsInput): Promise<{ deleted: number }> {
  let { deleted = 0, after } = before;
  let failing = 0;
  let added = false;
  setHandler(progress, () => ({ deleted, failing }));
  setHandler(objectsAdded, () => {
    added = true;
  });
  for (;;) {
    added = false;
    const batch = await deleteObjectBatch({ organizationId, ...(after && { after }) });
    deleted += batch.deleted;
    failing = batch.failing;
    after = batch.reached;
    if (batch.nextDueMs === null && !added) return { deleted };
    if (workflowInfo().continueAsNewSuggested)
      await continueAsNew<typeof deleteObjects>({ organizationId, deleted, ...(after && { after }) });
    if (batch.nextDueMs !== null && batch.nextDueMs > 0) {
      setCurrentDetails(`${deleted} deleted. The store refuses ${failing}; the next try is in ${Math.ceil(batch.nextDueMs / 1_000)} s.`);
      await condition(() => added, batch.nextDueMs);
    }
  }
}
