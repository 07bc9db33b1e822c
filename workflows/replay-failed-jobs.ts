import { continueAsNew, defineQuery, proxyActivities, setCurrentDetails, setHandler, sleep, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { queries } from '../contract/intents/definitions.ts';
import type { ReplayInput, ReplayProgress } from '../contract/intents/inputs.ts';
import { carried, checkInput, count, text, time } from './check-input.ts';
import { describeReplay, isReplayLimited, replayDefaults } from './replay-progress.ts';

const progressQuery = defineQuery<ReplayProgress>(queries.progress);

const { recordReplay, listReplayable, replayJobs } = proxyActivities<Activities>({
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

const pageSize = 100;

const fields = {
  ...{ organizationId: text, kind: text, errorCode: text, from: time, to: time },
  ...{ perMinute: count, limit: count, requestedBy: text, progress: carried },
};

/**
 * Retries failed jobs that match a filter, at a limited rate, as `jobs.retry` does: each is a new job, charged again. Jobs that were
 * retried already are left out, and so are those that were made since it was asked for. Throws InvalidInput. Only `npm run ops -- replay`
 * starts it: a run that was started otherwise fails before it retries anything.
 */
export async function replayFailedJobs(input: ReplayInput = {}): Promise<ReplayProgress> {
  checkInput(input, fields);
  const { perMinute = replayDefaults.perMinute, limit = replayDefaults.limit } = input;
  const progress: ReplayProgress = input.progress ?? { matched: 0, retried: 0, skipped: {}, after: null };
  const replayRun = workflowInfo().firstExecutionRunId;
  setHandler(progressQuery, () => progress);
  if (!input.progress) await recordReplay({ replayRun, input });

  while (!isReplayLimited(progress, input)) {
    const batchSize = Math.min(Math.max(1, Math.ceil(perMinute / 6)), pageSize, limit - progress.matched);
    const jobIds = await listReplayable({ filter: input, replayRun, after: progress.after, limit: batchSize });
    progress.matched += jobIds.length;
    progress.after = jobIds.at(-1) ?? progress.after;
    if (jobIds.length > 0) addBatch(progress, await replayJobs({ jobIds, replayRun }));
    setCurrentDetails(describeReplay(progress, input));
    if (jobIds.length < batchSize) break;
    await sleep((jobIds.length / perMinute) * 60_000);
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof replayFailedJobs>({ ...input, progress });
  }
  return progress;
}

function addBatch(progress: ReplayProgress, batch: { retried: number; skipped: Record<string, number> }): void {
  progress.retried += batch.retried;
  for (const [reason, count] of Object.entries(batch.skipped)) progress.skipped[reason] = (progress.skipped[reason] ?? 0) + count;
}
