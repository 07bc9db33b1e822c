import { Context } from '@temporalio/activity';
import { inTransaction } from '../db/transaction.ts';
import { refundLostSearches } from '../domain/credits/search-charge.ts';
import { purgeUpload } from '../domain/documents/purge-upload.ts';
import type { JobState } from '../domain/jobs/job-state.ts';
import { type EndedAttempt, settleAttempt } from '../domain/jobs/settle-attempt.ts';
import { sweepLostAttempts } from '../domain/jobs/sweep-lost-attempts.ts';
import { sweepQueuedJobs } from '../domain/jobs/sweep-queued-jobs.ts';
import { deleteObjectBatch, type ObjectBatch } from '../domain/objects/delete-object-batch.ts';
import { billingActivities } from './billing.ts';
import type { ActivityDeps } from './deps.ts';
import { indexActivities } from './indexes.ts';
import { mailActivities } from './mail.ts';
import { organizationActivities } from './organizations.ts';
import { replayActivities } from './replay.ts';
import { retentionActivities } from './retention.ts';
import { type AttemptInput, type AttemptReport, runJobAttempt } from './run-job-attempt.ts';

const sweepBatch = 500;

/** Everything that workflows have done in the outside world. Thin: each calls the domain, storage or the AI service. */
export type Activities = ReturnType<typeof createActivities>;

/** Binds the activities to what they work with. */
export function createActivities(deps: ActivityDeps) {
  return {
    ...billingActivities(deps),
    ...indexActivities(deps),
    ...mailActivities(deps),
    ...organizationActivities(deps),
    ...replayActivities(deps),
    ...retentionActivities(deps),

    /** One attempt of a job; see {@link runJobAttempt}. Scheduled on the kind's own task queue, never retried by Temporal. */
    runJobAttempt: (input: AttemptInput): Promise<AttemptReport> => runJobAttempt(deps, input),

    /** Decides what an attempt that did not report success means for its job; idempotent. */
    settleAttempt: (attempt: EndedAttempt): Promise<JobState> => settleAttempt(deps.db, attempt, deps.jobs.retryDelaysMs),

    /** Removes a document whose upload was never completed. */
    async purgeUpload({ documentId }: { documentId: string }): Promise<{ purged: boolean }> {
      return { purged: await inTransaction(deps.db, (trx) => purgeUpload(trx, documentId)) };
    },

    /** Deletes a batch of an organization's objects whose rows are gone (docs/rules.md, objects after rows). */
    deleteObjectBatch: ({ organizationId }: { organizationId: string }): Promise<ObjectBatch> => {
      const context = Context.current();
      return deleteObjectBatch(deps.db, deps.storage, organizationId, () => context.heartbeat());
    },

    /** Takes back jobs whose attempt is presumed lost, and gives back the credits of searches whose process died. */
    async sweepLostAttempts(): Promise<{ requeued: number; failed: number }> {
      const swept = await sweepLostAttempts(deps.db, { timeoutMs: deps.jobs.timeoutMs, limit: sweepBatch });
      const searches = await refundLostSearches(deps.db, sweepBatch);
      if (searches > 0) deps.log.warn({ searches }, 'searches did not come to their end, and were refunded');
      return swept;
    },

    /** Starts again the workflows of queued jobs that have none. */
    async sweepQueuedJobs(): Promise<{ restarted: number }> {
      return { restarted: (await sweepQueuedJobs(deps.db, { limit: sweepBatch })).length };
    },
  };
}
