import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { DeleteWorkspaceInput, DeleteWorkspaceResult } from '../contract/intents/inputs.ts';

const { drainWorkspace } = proxyActivities<Activities>({
  startToCloseTimeout: '12 hours',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

/** Drains a deleted workspace: ends and detaches its jobs, and deletes its documents. `deleteObjects` deletes their objects. */
export async function deleteWorkspace(workspace: DeleteWorkspaceInput): Promise<DeleteWorkspaceResult> {
  setCurrentDetails('Its jobs and documents are being drained. The heartbeat of the activity counts them.');
  const drained = await drainWorkspace(workspace);
  setCurrentDetails(`${drained.jobs} jobs detached, ${drained.documents} documents deleted.`);
  return drained;
}
