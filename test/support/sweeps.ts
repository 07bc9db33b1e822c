import type { TestApi } from './api.ts';
import { until } from './processes.ts';

/** Does `work` while the sweep of every minute does not run, which would put in order what a test has put out of order. */
export async function withoutSweeps<T>(api: TestApi, work: () => Promise<T>): Promise<T> {
  const sweeps = api.temporal.client.schedule.getHandle('sweep-jobs');
  await sweeps.pause();
  try {
    await until(async () => (await sweeps.describe()).info.runningActions.length === 0);
    return await work();
  } finally {
    await sweeps.unpause();
  }
}
