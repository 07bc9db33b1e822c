import { quantizeDocuments } from '../domain/chunks/quantize-documents.ts';
import { reconcileVectorIndexes } from '../domain/chunks/reconcile-vector-indexes.ts';
import { refundLostSearches } from '../domain/credits/search-charge.ts';
import { purgeAbandonedUploads } from '../domain/documents/purge-uploads.ts';
import { sweepLostAttempts, sweepQueuedJobs } from '../domain/jobs/sweep-jobs.ts';
import { findOrphanedObjects } from '../domain/objects/find-orphaned-objects.ts';
import * as retention from '../domain/retention.ts';
import type { ReconcileIndexesResult } from '../workflows/definitions.ts';
import type { ActivityDeps } from './deps.ts';
import { reporting, withHeartbeats } from './progress.ts';

const sweepBatch = 500;

/** The steps of the minute's sweep. */
export function sweepActivities({ db, jobs, log }: ActivityDeps) {
  return {
    /** Takes back jobs whose attempt is presumed lost, and gives back the credits of searches whose process died. */
    async sweepLostAttempts(): Promise<{ requeued: number; failed: number }> {
      const swept = await sweepLostAttempts(db, { timeoutMs: jobs.timeoutMs, limit: sweepBatch });
      const searches = await refundLostSearches(db, sweepBatch);
      if (searches > 0) log.warn({ searches }, 'searches did not come to their end, and were refunded');
      return swept;
    },

    async sweepQueuedJobs(): Promise<{ restarted: number }> {
      return { restarted: (await sweepQueuedJobs(db, { limit: sweepBatch })).length };
    },
  };
}

/** The steps of the day's housekeeping. Each returns how much it removed. */
export function housekeepingActivities({ db, storage, auditRetentionDays }: ActivityDeps) {
  const remove = (rows: retention.Expired) => retention.deleteInBatches(db, rows, reporting<number>());
  return {
    purgeAbandonedUploads: () => purgeAbandonedUploads(db, reporting<number>()),
    deleteFinishedJobs: () => remove(retention.finishedJobs),
    deleteAuditEntries: async () => (auditRetentionDays === 0 ? 0 : remove(retention.auditEntries(auditRetentionDays))),
    deleteExpiredSessions: () => remove(retention.sessions),
    deleteIdempotencyKeys: () => remove(retention.idempotencyKeys),
    deleteMails: () => remove(retention.mails),
    deleteExpiredVerifications: () => remove(retention.verifications),
    deletePaymentEvents: () => remove(retention.paymentEvents),
    findOrphanedObjects: () => findOrphanedObjects(db, storage, reporting<number>()),
  };
}

export function indexActivities({ maintenanceDb }: ActivityDeps) {
  return {
    /** Quantizes vectors that are not, then see {@link reconcileVectorIndexes}. Building an index takes minutes. */
    reconcileIndexes: (): Promise<ReconcileIndexesResult> =>
      withHeartbeats(async () => {
        const quantized = await quantizeDocuments(maintenanceDb);
        const indexes = await reconcileVectorIndexes(maintenanceDb);
        return indexes ? { ...indexes, quantized } : null;
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
