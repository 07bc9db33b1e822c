import { listReplayable, recordReplay, replayJob } from '../domain/jobs/replay-jobs.ts';
import type { ReplayFilter, ReplayInput } from '../workflows/inputs.ts';
import type { ActivityDeps } from './deps.ts';
import { reporting } from './progress.ts';

/** The steps of a replay of failed jobs. */
export function replayActivities(deps: ActivityDeps) {
  return {
    recordReplay: (replay: { replayRun: string; input: ReplayInput }): Promise<void> => recordReplay(deps.db, replay),

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
