import { condition, defineSignal, proxyActivities, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { signals, type UploadInput } from './definitions.ts';

const uploadEnded = defineSignal(signals.uploadEnded);

const { purgeUpload } = proxyActivities<Activities>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '5 minutes' },
});

/** Waits a day for an upload to be completed or its document deleted, or else deletes the row and the object. */
export async function upload({ documentId }: UploadInput): Promise<{ purged: boolean }> {
  let ended = false;
  setHandler(uploadEnded, () => {
    ended = true;
  });
  setCurrentDetails('Waits for the upload to be completed.');
  if (await condition(() => ended, '1 day')) return { purged: false };
  return purgeUpload({ documentId });
}
