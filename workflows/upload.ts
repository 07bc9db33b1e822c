import { condition, defineSignal, proxyActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { signals } from './definitions.ts';
import type { UploadInput } from './inputs.ts';

const uploadEnded = defineSignal(signals.uploadEnded);

const { purgeUpload } = proxyActivities<Activities>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '5 minutes' },
});

/**
 * Deletes the row and the object of an upload that was not completed or deleted in time. Started with a delay, so that an upload costs no
 * workflow task before: its only task comes with the signal that it ended, or when the delay is over.
 */
export async function upload({ documentId, waitMs }: UploadInput): Promise<{ purged: boolean }> {
  let ended = false;
  setHandler(uploadEnded, () => {
    ended = true;
  });
  // A task may come early, for example after a reset by the operator.
  const leftMs = workflowInfo().startTime.getTime() + waitMs - Date.now();
  if (ended || (leftMs > 0 && (await condition(() => ended, leftMs)))) return { purged: false };
  return purgeUpload({ documentId });
}
