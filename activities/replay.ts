import { inTransaction } from '../db/transaction.ts';
import { systemActor } from '../domain/actor.ts';
import { recordAudit } from '../domain/audit/record-audit.ts';
import { listReplayable } from '../domain/jobs/list-replayable.ts';
import { replayJob } from '../domain/jobs/replay-job.ts';
import type { ReplayFilter, ReplayInput } from '../workflows/definitions.ts';
import type { ActivityDeps } from './deps.ts';
import { reporting } from './progress.ts';

/** The steps of a replay of failed jobs. */
export function replayActivities(deps: ActivityDeps) {
  return {
    /** Writes the audit entry of a replay before it retries anything: once for each replay, however often it is attempted. */
    async recordReplay({ replayRun, input }: { replayRun: string; input: ReplayInput }): Promise<void> {
      const { progress: _, ...metadata } = input;
      const event = {
        organizationId: input.organizationId ?? null,
        action: 'job.replay',
        targetType: 'replay',
        targetId: replayRun,
        metadata,
      };
      await inTransaction(deps.db, async (trx) => {
        const recorded = await trx
          .selectFrom('audit_entry')
          .select('id')
          .where('target_id', '=', replayRun)
          .where('action', '=', 'job.replay')
          .executeTakeFirst();
        if (!recorded) await recordAudit(trx, { ...systemActor, email: input.requestedBy ?? null }, event);
      });
    },

    listReplayable: ({ filter, ...page }: { filter: ReplayFilter; after: string | null; limit: number }): Promise<string[]> =>
      listReplayable(deps.db, filter, page),

    /** Retries a batch, one job in each transaction; counts what was not retried by its reason. */
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
        if (replay.retried) {
          batch.retried++;
          deps.dispatch([replay.message]);
        } else {
          batch.skipped[replay.reason] = (batch.skipped[replay.reason] ?? 0) + 1;
        }
        onProgress(batch.retried);
      }
      return batch;
    },
  };
}
