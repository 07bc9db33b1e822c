import { condition, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { signals } from '../contract/intents/definitions.ts';
import type { UploadInput } from '../contract/intents/inputs.ts';

const uploadEnded = defineSignal(signals.uploadEnded);

const { purgeUpload } = proxyActivities<Activities>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '5 minutes' },
});

/**
 * Deletes the row and the object of an upload if, a day after the row was made, it was neither completed nor deleted. It is started with a
 * delay, so its only task comes with the signal that the upload ended, or after the delay.
 */
export async function upload({ documentId }: UploadInput): Promise<{ purged: boolean }> {
  let ended = false;
  setHandler(uploadEnded, () => {
    ended = true;
  });
  for (;;) {
    if (ended) return { purged: false };
    const { purged, leftMs } = await purgeUpload({ documentId });
    // A task may come early, for example after a reset by the operator.
    if (leftMs === 0) return { purged };
    await condition(() => ended, leftMs);
  }
}
