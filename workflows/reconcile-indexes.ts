import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { ReconcileIndexesResult } from './inputs.ts';

const activities = proxyActivities<Activities>({
  startToCloseTimeout: '12 hours',
  heartbeatTimeout: '1 minute',
  retry: { maximumAttempts: 3, initialInterval: '1 minute' },
});

/**
 * Once an hour: stores the quantized vectors and the postings of documents that lack them, makes the vector indexes of large workspaces, and
 * drops those that are no longer needed.
 */
export async function reconcileIndexes(): Promise<ReconcileIndexesResult> {
  setCurrentDetails(
    'Completes documents, and compares the workspaces with their indexes. Building one takes minutes; searches are right without it.',
  );
  const result = await activities.reconcileIndexes();
  setCurrentDetails(describe(result));
  return result;
}

function describe(result: ReconcileIndexesResult): string {
  if (!result) return 'Another run was at it.';
  const { quantized = 0, postings = 0 } = result;
  const completed = `${quantized} documents got quantized vectors, ${postings} postings.`;
  if ('exact' in result) return `${completed} There are no vector indexes: ${result.exact}.`;
  return `${completed} pgvector ${result.pgvector}: ${result.made.length} indexes made, ${result.dropped.length} dropped.`;
}
