import { Context } from '@temporalio/activity';
import { inTransaction } from '../db/transaction.ts';
import { purgeUpload } from '../domain/documents/purge-uploads.ts';
import { findJob, type JobState, jobStateOf } from '../domain/jobs/job.ts';
import { type EndedAttempt, settleAttempt } from '../domain/jobs/settle-attempt.ts';
import { type DueCursor, deleteObjectBatch, type ObjectBatch } from '../domain/stored-objects/delete-object-batch.ts';
import { billingActivities } from './billing.ts';
import type { ActivityDeps } from './deps.ts';
import { mailActivities } from './mail.ts';
import { organizationActivities } from './organizations.ts';
import { reindexActivities } from './reindex.ts';
import { replayActivities } from './replay.ts';
import { type AttemptInput, runJobAttempt } from './run-job-attempt.ts';
import { housekeepingActivities, indexActivities, reportingSuccess, sweepActivities } from './scheduled.ts';
import { webhookActivities } from './webhooks.ts';
import { workspaceActivities } from './workspaces.ts';

/** The activities of workflows. Each is thin: it calls the domain, the storage or the AI service. */
export type Activities = ReturnType<typeof createActivities>;

/** All activities, by the names by which workflows call them. */
export function createActivities(deps: ActivityDeps) {
  return {
    ...reportingSuccess(deps, { ...housekeepingActivities(deps), ...indexActivities(deps), ...sweepActivities(deps) }),
    ...billingActivities(deps),
    ...mailActivities(deps),
    ...organizationActivities(deps),
    ...reindexActivities(deps),
    ...replayActivities(deps),
    ...webhookActivities(deps),
    ...workspaceActivities(deps),

    /** Scheduled on the task queue of the kind. */
    runJobAttempt: (input: AttemptInput): Promise<JobState> => runJobAttempt(deps, input),

    settleAttempt: (attempt: EndedAttempt): Promise<JobState> => settleAttempt(deps.db, attempt, deps.jobs.retryDelaysMs),

    readJobState: async ({ jobId }: { jobId: string }): Promise<JobState> => jobStateOf(deps.db, await findJob(deps.db, jobId)),

    purgeUpload: ({ documentId }: { documentId: string }): Promise<{ purged: boolean; leftMs: number }> =>
      inTransaction(deps.db, (trx) => purgeUpload(trx, documentId)),

    deleteObjectBatch: (from: { organizationId: string; after?: DueCursor }): Promise<ObjectBatch> => {
      const context = Context.current();
      return deleteObjectBatch(deps.db, deps.storage, from, () => context.heartbeat());
    },
  };
}
