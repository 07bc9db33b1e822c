import { purgeAbandonedUploads } from '../domain/documents/purge-uploads.ts';
import { findOrphanedObjects } from '../domain/objects/find-orphaned-objects.ts';
import * as expired from '../domain/retention.ts';
import { deleteInBatches, type Expired } from '../domain/retention.ts';
import type { ActivityDeps } from './deps.ts';
import { reporting } from './progress.ts';

/** The steps of a day's housekeeping; each answers how much it removed. */
export function retentionActivities(deps: ActivityDeps) {
  const remove = (rows: Expired) => deleteInBatches(deps.db, rows, reporting<number>());
  return {
    purgeAbandonedUploads: () => purgeAbandonedUploads(deps.db, reporting<number>()),
    deleteFinishedJobs: () => remove(expired.finishedJobs),
    deleteAuditEntries: async () => (deps.auditRetentionDays === 0 ? 0 : remove(expired.auditEntries(deps.auditRetentionDays))),
    deleteExpiredSessions: () => remove(expired.sessions),
    deleteIdempotencyKeys: () => remove(expired.idempotencyKeys),
    deleteMails: () => remove(expired.mails),
    deleteExpiredVerifications: () => remove(expired.verifications),
    deletePaymentEvents: () => remove(expired.paymentEvents),
    findOrphanedObjects: () => findOrphanedObjects(deps.db, deps.storage, reporting<number>()),
  };
}
