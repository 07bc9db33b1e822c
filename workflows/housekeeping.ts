import {
  ActivityFailure,
  ApplicationFailure,
  defineQuery,
  isCancellation,
  patched,
  proxyActivities,
  rootCause,
  setCurrentDetails,
  setHandler,
  sleep,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { queries } from '../contract/intents/definitions.ts';
import type { HousekeepingResult } from '../contract/intents/inputs.ts';

const progress = defineQuery<Partial<HousekeepingResult>>(queries.progress);

const activities = proxyActivities<Activities>({
  startToCloseTimeout: '6 hours',
  heartbeatTimeout: '2 minutes',
  retry: { initialInterval: '10 seconds', maximumInterval: '1 minute', maximumAttempts: 3 },
});

type Step = keyof HousekeepingResult;

/** How long a failed step waits for its second attempt, while the others go on. */
const secondTryMs = 10 * 60_000;

/**
 * Once a day: deletes expired data, seals secrets of earlier versions, and checks the ledger, one step after another. A failed step does not
 * stop the others, and is retried after them. Returns how much each step removed, sealed or found. Fails with the reason if a step did.
 */
export async function housekeeping(): Promise<HousekeepingResult> {
  const done: Partial<HousekeepingResult> = {};
  setHandler(progress, () => done);
  // Runs that began before a step existed go on without it.
  const later: Partial<Record<Step, string>> = {
    webhookDeliveries: 'webhook-deliveries',
    sealedSecrets: 'sealed-secrets',
    ledgerProblems: 'ledger-problems',
    workspaceRetention: 'workspace-retention',
    providerCalls: 'provider-calls',
  };
  const names = (Object.keys(steps) as Step[]).filter((step) => later[step] === undefined || patched(later[step]));
  const failed = await runAll(names, done);
  const retryable = [...failed].filter(([, { isFinal }]) => !isFinal).map(([step]) => step);
  if (retryable.length > 0) {
    await sleep(secondTryMs);
    const again = await runAll(retryable, done);
    for (const step of retryable) if (!again.has(step)) failed.delete(step);
  }
  const problems = [...failed].map(([step, { message }]) => `${step}: ${message}`);
  setCurrentDetails([JSON.stringify(done), ...problems].join('\n\n'));
  if (problems.length > 0) throw ApplicationFailure.nonRetryable(problems.join(' '), 'HousekeepingIncomplete', done);
  return done as HousekeepingResult;
}

/** Runs steps, and returns those that failed. */
async function runAll(names: Step[], done: Partial<HousekeepingResult>): Promise<Map<Step, { message: string; isFinal: boolean }>> {
  const failed = new Map<Step, { message: string; isFinal: boolean }>();
  for (const step of names) {
    setCurrentDetails(`Now: ${step}. So far: ${JSON.stringify(done)}`);
    try {
      done[step] = await steps[step]();
    } catch (error) {
      if (isCancellation(error)) throw error;
      const message = rootCause(error) ?? String(error);
      failed.set(step, { message, isFinal: error instanceof ActivityFailure && isNonRetryable(error.cause) });
    }
  }
  return failed;
}

function isNonRetryable(cause: unknown): boolean {
  return cause instanceof ApplicationFailure && cause.nonRetryable === true;
}

const steps: Record<keyof HousekeepingResult, () => Promise<number>> = {
  abandonedUploads: () => activities.purgeAbandonedUploads(),
  ownerlessOrganizations: () => activities.deleteOwnerlessOrganizations(),
  finishedJobs: () => activities.deleteFinishedJobs(),
  auditEntries: () => activities.deleteAuditEntries(),
  sessions: () => activities.deleteExpiredSessions(),
  idempotencyKeys: () => activities.deleteIdempotencyKeys(),
  mails: () => activities.deleteMails(),
  orphanedObjects: () => activities.findOrphanedObjects(),
  verifications: () => activities.deleteExpiredVerifications(),
  paymentEvents: () => activities.deletePaymentEvents(),
  webhookDeliveries: () => activities.deleteWebhookDeliveries(),
  sealedSecrets: () => activities.sealStoredSecrets(),
  ledgerProblems: () => activities.checkLedger(),
  workspaceRetention: () => activities.applyRetention(),
  providerCalls: () => activities.deleteProviderCalls(),
};
