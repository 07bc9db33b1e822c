import { defineQuery, proxyActivities, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { type HousekeepingResult, queries } from './definitions.ts';

const progress = defineQuery<Partial<HousekeepingResult>>(queries.progress);

const activities = proxyActivities<Activities>({
  startToCloseTimeout: '6 hours',
  heartbeatTimeout: '2 minutes',
  retry: { initialInterval: '10 seconds', maximumInterval: '10 minutes', maximumAttempts: 10 },
});

/** Once a day: deletes what has been kept long enough, one step after another. Returns how much each step removed. */
export async function housekeeping(): Promise<HousekeepingResult> {
  const done: Partial<HousekeepingResult> = {};
  setHandler(progress, () => done);
  for (const step of Object.keys(steps) as (keyof HousekeepingResult)[]) {
    setCurrentDetails(`Now: ${step}. So far: ${JSON.stringify(done)}`);
    done[step] = await steps[step]();
  }
  setCurrentDetails(JSON.stringify(done));
  return done as HousekeepingResult;
}

const steps: Record<keyof HousekeepingResult, () => Promise<number>> = {
  abandonedUploads: () => activities.purgeAbandonedUploads(),
  finishedJobs: () => activities.deleteFinishedJobs(),
  auditEntries: () => activities.deleteAuditEntries(),
  sessions: () => activities.deleteExpiredSessions(),
  idempotencyKeys: () => activities.deleteIdempotencyKeys(),
  mails: () => activities.deleteMails(),
  orphanedObjects: () => activities.findOrphanedObjects(),
  verifications: () => activities.deleteExpiredVerifications(),
  paymentEvents: () => activities.deletePaymentEvents(),
};
