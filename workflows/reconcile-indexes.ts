import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { ReconcileIndexesResult } from '../contract/intents/inputs.ts';

const activities = proxyActivities<Activities>({
  startToCloseTimeout: '12 hours',
  heartbeatTimeout: '1 minute',
  retry: { maximumAttempts: 3, initialInterval: '1 minute' },
});

/** Once an hour: makes the vector indexes of large workspaces, and drops unneeded ones. */
export async function reconcileIndexes(): Promise<ReconcileIndexesResult> {
  setCurrentDetails('Compares the workspaces with their vector indexes. Building one takes minutes; searches are right without it.');
  const result = await activities.reconcileIndexes();
  setCurrentDetails(describe(result));
  return result;
}

function describe(result: ReconcileIndexesResult): string {
  if (!result) return 'Another run was at it.';
  if ('exact' in result) return `There are no vector indexes: ${result.exact}.`;
  return `pgvector ${result.pgvector}: ${result.made.length} indexes made, ${result.dropped.length} dropped.`;
}
