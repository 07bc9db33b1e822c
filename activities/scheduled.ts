import { ApplicationFailure, Context } from '@temporalio/activity';
import { quantizeDocuments } from '../domain/chunks/quantize-documents.ts';
import { reconcileVectorIndexes } from '../domain/chunks/reconcile-vector-indexes.ts';
import { refundLostSearches } from '../domain/credits/search-charge.ts';
import { purgeAbandonedUploads } from '../domain/documents/purge-uploads.ts';
import { sweepAllQueuedJobs, sweepLostAttempts } from '../domain/jobs/sweep-jobs.ts';
import { indexPostings } from '../domain/lexical/index-postings.ts';
import { findOrphanedObjects, type OrphanSweep } from '../domain/objects/find-orphaned-objects.ts';
import { OrphanSweepStopped } from '../domain/objects/orphan-sweep-stop.ts';
import { StoreOfAnotherDeployment } from '../domain/objects/store-owner.ts';
import { sweepObjectDeletions } from '../domain/objects/sweep-object-deletions.ts';
import { sweepDeletions } from '../domain/operations/sweep-deletions.ts';
import { deleteOwnerlessOrganizations } from '../domain/organizations/delete-ownerless-organizations.ts';
import { noteIndexKinds } from '../domain/reindex/note-index-kinds.ts';
import * as retention from '../domain/retention.ts';
import type { ReconcileIndexesResult } from '../workflows/definitions.ts';
import type { ActivityDeps } from './deps.ts';
import { reporting, withHeartbeats } from './progress.ts';

const sweepBatch = 500;
const sweepMs = 50_000;

/** The steps of the minute's sweep. */
export function sweepActivities({ db, jobs, log }: ActivityDeps) {
  return {
    /**
     * Takes back jobs whose attempt is presumed lost, gives back the credits of searches whose process died, and starts deletions of objects
     * whose workflow is gone.
     */
    async sweepLostAttempts(): Promise<{ requeued: number; failed: number }> {
      const swept = await sweepLostAttempts(db, { timeoutMs: jobs.timeoutMs, limit: sweepBatch });
      const searches = await refundLostSearches(db, sweepBatch);
      if (searches > 0) log.warn({ searches }, 'searches did not come to their end, and were refunded');
      await sweepObjectDeletions(db, sweepBatch);
      return swept;
    },

    /** Starts the workflows of queued jobs and of deletions that have none. The next minute's sweep goes on. */
    async sweepQueuedJobs(): Promise<{ restarted: number }> {
      await sweepDeletions(db, sweepBatch);
      const signal = AbortSignal.any([Context.current().cancellationSignal, AbortSignal.timeout(sweepMs)]);
      return { restarted: await sweepAllQueuedJobs(db, { limit: sweepBatch, signal }) };
    },
  };
}

/** The steps of the day's housekeeping. Each returns how much it removed. */
export function housekeepingActivities({ db, storage, log, auditRetentionDays }: ActivityDeps) {
  const remove = (rows: retention.Expired) => retention.deleteInBatches(db, rows, reporting<retention.Deleted>());
  return {
    purgeAbandonedUploads: () => purgeAbandonedUploads(db, reporting<number>()),
    deleteOwnerlessOrganizations: () => deleteOwnerlessOrganizations(db, reporting<number>()),
    deleteFinishedJobs: () => remove(retention.finishedJobs),
    deleteAuditEntries: async () => (auditRetentionDays === 0 ? 0 : remove(retention.auditEntries(auditRetentionDays))),
    deleteExpiredSessions: () => remove(retention.sessions),
    deleteIdempotencyKeys: () => remove(retention.idempotencyKeys),
    deleteMails: () => remove(retention.mails),
    deleteExpiredVerifications: () => remove(retention.verifications),
    deletePaymentEvents: () => remove(retention.paymentEvents),
    async findOrphanedObjects(): Promise<number> {
      try {
        return await findOrphanedObjects(db, storage, reporting<OrphanSweep>());
      } catch (error) {
        if (!(error instanceof OrphanSweepStopped || error instanceof StoreOfAnotherDeployment)) throw error;
        log.error({ err: error }, 'the sweep of orphaned objects has stopped, and deletes nothing');
        // Only an operator can decide.
        throw ApplicationFailure.nonRetryable(error.message, error.name);
      }
    },
  };
}

export function indexActivities({ maintenanceDb }: ActivityDeps) {
  return {
    /** Quantizes vectors, stores postings and notes models where that is missing, then see {@link reconcileVectorIndexes}. Building an index takes minutes. */
    reconcileIndexes: (): Promise<ReconcileIndexesResult> =>
      withHeartbeats(async () => {
        const { cancellationSignal } = Context.current();
        const quantized = await quantizeDocuments(maintenanceDb, cancellationSignal);
        const postings = await indexPostings(maintenanceDb, cancellationSignal);
        const noted = await noteIndexKinds(maintenanceDb);
        const indexes = await reconcileVectorIndexes(maintenanceDb);
        return indexes ? { ...indexes, quantized, postings, noted } : null;
      }),
  };
}

/** The same steps; each tells that it succeeded, by its name. */
export function tellingSuccess<Steps extends Record<string, () => Promise<unknown>>>({ stepSucceeded }: ActivityDeps, steps: Steps): Steps {
  if (!stepSucceeded) return steps;
  const telling = Object.entries(steps).map(([name, step]) => [
    name,
    async () => {
      const result = await step();
      stepSucceeded(name);
      return result;
    },
  ]);
  return Object.fromEntries(telling) as Steps;
}
