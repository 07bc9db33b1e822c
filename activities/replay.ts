import { ApplicationFailure, Context } from '@temporalio/activity';
import type { ReplayFilter, ReplayInput } from '../contract/intents/inputs.ts';
import { beginReplay, isRequestedReplay, listReplayable, replayJob } from '../domain/jobs/replay-jobs.ts';
import type { ActivityDeps } from './deps.ts';
import { reporting } from './progress.ts';

/**
 * The steps of a replay of failed jobs. Those that change something fail for good unless an operator asked for the replay (docs/rules.md,
 * the row decides), since anybody who reaches Temporal can start the workflow.
 */
export function replayActivities(deps: ActivityDeps) {
  return {
    async recordReplay(replay: { replayRun: string; input: ReplayInput }): Promise<void> {
      const id = Context.current().info.workflowExecution?.workflowId ?? '';
      if (!(await beginReplay(deps.db, { id, ...replay }))) throw notRequested();
    },

    listReplayable: ({
      filter,
      ...page
    }: {
      filter: ReplayFilter;
      replayRun?: string;
      after: string | null;
      limit: number;
    }): Promise<string[]> => listReplayable(deps.db, filter, page),

    /** Retries a batch, one job in each transaction. Counts the jobs that were not retried by their reason. */
    async replayJobs({
      jobIds,
      replayRun,
    }: {
      jobIds: string[];
      replayRun: string;
    }): Promise<{ retried: number; skipped: Record<string, number> }> {
      if (!(await isRequestedReplay(deps.db, replayRun))) throw notRequested();
      const { onProgress, signal } = reporting<number>();
      const batch = { retried: 0, skipped: {} as Record<string, number> };
      for (const jobId of jobIds) {
        signal.throwIfAborted();
        const replay = await replayJob(deps.db, deps.getPlan, jobId, replayRun);
        if (replay.retried) batch.retried++;
        else batch.skipped[replay.reason] = (batch.skipped[replay.reason] ?? 0) + 1;
        onProgress(batch.retried);
      }
      return batch;
    },
  };
}

function notRequested(): ApplicationFailure {
  return ApplicationFailure.nonRetryable(
    'Nobody has asked for this replay within the last hour: `npm run ops -- replay` does.',
    'NotRequested',
  );
}
