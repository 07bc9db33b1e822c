import { ApplicationFailure, Context } from '@temporalio/activity';
import type { ReconcileIndexesResult } from '../contract/intents/inputs.ts';
import { checkLedger } from '../domain/credits/check-ledger.ts';
import { refundLostCharges } from '../domain/credits/open-charge.ts';
import { purgeAbandonedUploads } from '../domain/documents/purge-uploads.ts';
import { releaseAllWaiting, sweepAllQueuedJobs, sweepLostAttempts } from '../domain/jobs/sweep-jobs.ts';
import { deleteOwnerlessOrganizations } from '../domain/organizations/delete-ownerless-organizations.ts';
import { sweepOutages } from '../domain/outages/note-up.ts';
import { sweepDeletions } from '../domain/platform/sweep-deletions.ts';
import * as retention from '../domain/retention.ts';
import { sealStoredSecrets } from '../domain/seal-stored-secrets.ts';
import { reconcileVectorIndexes } from '../domain/search/reconcile-vector-indexes.ts';
import { findOrphanedObjects, type OrphanSweep } from '../domain/stored-objects/find-orphaned-objects.ts';
import { sweepLateUploads } from '../domain/stored-objects/late-uploads.ts';
import { OrphanSweepStopped } from '../domain/stored-objects/orphan-sweep-stop.ts';
import { StoreOfAnotherDeployment } from '../domain/stored-objects/store-owner.ts';
import { sweepObjectDeletions } from '../domain/stored-objects/sweep-object-deletions.ts';
import { holdLostDeliveries, sweepHeldDeliveries } from '../domain/webhooks/held-deliveries.ts';
import { applyRetention, type RetentionProgress } from '../domain/workspaces/apply-retention.ts';
import type { ActivityDeps } from './deps.ts';
import { reporting, withHeartbeats } from './progress.ts';

const sweepBatch = 500;
const lateUploadsBatch = 10_000;
const sweepMs = 50_000;

/** The steps of the minutely sweep. Each does as much as it can, and then fails if a part failed; the next sweep continues. */
export function sweepActivities({ db, getPlan, jobs, log }: ActivityDeps) {
  return {
    /** Takes back jobs whose attempt is presumed lost, and refunds searches and answers whose process died. */
    async takeBackLost(): Promise<{ requeued: number; failed: number }> {
      const failures: unknown[] = [];
      const onFailure = (jobId: string, err: unknown) => {
        log.warn({ err, jobId }, 'a lost attempt was not taken back; the next sweep tries again');
        failures.push(err);
      };
      const [swept, refunds = 0] = await allOf(failures, [
        () => sweepLostAttempts(db, { timeoutMs: jobs.timeoutMs, limit: sweepBatch, onFailure }),
        () => refundLostCharges(db, sweepBatch),
      ] as const);
      if (refunds > 0) log.warn({ refunds }, 'searches or answers did not come to their end, and were refunded');
      if (failures.length > 0 || !swept) throw failures[0];
      return swept;
    },

    /**
     * Requests deletions of late uploads, starts workflows of deletions, held webhooks and queued jobs, and wakes jobs whose outage is
     * over.
     */
    async startMissing(): Promise<{ restarted: number }> {
      const failures: unknown[] = [];
      const signal = AbortSignal.any([Context.current().cancellationSignal, AbortSignal.timeout(sweepMs)]);
      const [, , , , , , restarted = 0] = await allOf(failures, [
        () => sweepLateUploads(db, lateUploadsBatch),
        () => sweepObjectDeletions(db, sweepBatch),
        () => sweepDeletions(db, sweepBatch),
        () => sweepOutages(db),
        () => releaseAllWaiting(db, { limit: sweepBatch, signal }),
        () => sweepHeldDeliveries(db),
        () => sweepAllQueuedJobs(db, { limit: sweepBatch, getPlan, signal }),
      ] as const);
      if (failures.length > 0) throw failures[0];
      return { restarted };
    },
  };
}

type Step = () => Promise<unknown>;
type Results<Steps extends readonly Step[]> = { -readonly [K in keyof Steps]: Awaited<ReturnType<Steps[K]>> | undefined };

/** Runs the steps one after another. The result of a failed one is undefined, and its error is added to `failures`. */
async function allOf<const Steps extends readonly Step[]>(failures: unknown[], steps: Steps): Promise<Results<Steps>> {
  const results: unknown[] = [];
  for (const step of steps) results.push(await step().catch((error: unknown) => void failures.push(error)));
  return results as Results<Steps>;
}

/** The steps of the day's housekeeping. Each returns how much it removed, sealed, or found to be wrong. */
export function housekeepingActivities({ db, storage, log, secrets, secondFactors, steps, auditRetentionDays }: ActivityDeps) {
  const remove = (rows: retention.Expired) => retention.deleteInBatches(db, rows, reporting<retention.Deleted>());
  return {
    purgeAbandonedUploads: () => purgeAbandonedUploads(db, reporting<retention.Deleted>()),
    deleteOwnerlessOrganizations: () => deleteOwnerlessOrganizations(db, reporting<number>()),
    deleteFinishedJobs: () => remove(retention.finishedJobs),
    deleteAuditEntries: async () => (auditRetentionDays === 0 ? 0 : remove(retention.auditEntries(auditRetentionDays))),
    deleteExpiredSessions: () => remove(retention.sessions),
    deleteIdempotencyKeys: () => remove(retention.idempotencyKeys),
    deleteMails: () => remove(retention.mails),
    deleteExpiredVerifications: () => remove(retention.verifications),
    deletePaymentEvents: () => remove(retention.paymentEvents),
    deleteWebhookDeliveries: async () => {
      const lost = await holdLostDeliveries(db);
      if (lost > 0) log.warn({ lost }, 'webhooks had lost their workflows; the sweep sends them');
      return await remove(retention.webhookDeliveries);
    },
    deleteProviderCalls: () => remove(retention.providerCalls),
    applyRetention: () => applyRetention(db, reporting<RetentionProgress>()),
    sealStoredSecrets: () => sealStoredSecrets(db, { secrets, secondFactors }, reporting<number>()),
    /** The number of problems that `npm run ops -- ledger` names. */
    async checkLedger(): Promise<number> {
      const { signal } = reporting();
      const problems = await withHeartbeats(() => checkLedger(db, { signal }));
      steps?.ledgerChecked(problems.length === 0 ? 'sound' : 'off');
      if (problems.length > 0) log.error({ problems: problems.length, first: problems[0] }, 'the ledger is off');
      return problems.length;
    },
    async findOrphanedObjects(): Promise<number> {
      try {
        return await findOrphanedObjects(db, storage, reporting<OrphanSweep>());
      } catch (error) {
        if (!(error instanceof OrphanSweepStopped || error instanceof StoreOfAnotherDeployment)) throw error;
        log.error({ err: error }, 'the sweep of orphaned objects has stopped, and deletes nothing');
        // Only an operator can decide how to go on.
        throw ApplicationFailure.nonRetryable(error.message, error.name);
      }
    },
  };
}

export function indexActivities({ maintenanceDb }: ActivityDeps) {
  return {
    /** See {@link reconcileVectorIndexes}. Building an index takes minutes. */
    reconcileIndexes: (): Promise<ReconcileIndexesResult> =>
      withHeartbeats(async () => (await reconcileVectorIndexes(maintenanceDb)) ?? null),
  };
}

/** The same steps, with reports to the observer: now that each is expected, and later each success, by name. */
export function reportingSuccess<Steps extends Record<string, () => Promise<unknown>>>(
  { steps: observer }: Pick<ActivityDeps, 'steps'>,
  steps: Steps,
): Steps {
  if (!observer) return steps;
  const reporting = Object.entries(steps).map(([name, step]) => {
    observer.expected(name);
    const reported = async () => {
      const result = await step();
      observer.succeeded(name);
      return result;
    };
    return [name, reported];
  });
  return Object.fromEntries(reporting) as Steps;
}
