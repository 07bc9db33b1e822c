import { setTimeout as delay } from 'node:timers/promises';
import { type WorkflowExecutionDescription, WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { workflowType } from '../adapters/temporal/task-queue.ts';
import { mainTaskQueue } from '../contract/intents/definitions.ts';
import type { ReconcileBillingResult } from '../contract/intents/inputs.ts';
import { callTemporal, type OpsContext, OpsError } from './context.ts';
import { findWorkers } from './task-queue.ts';

export type Compared = NonNullable<ReconcileBillingResult>;

const pollMs = 500;
/** A worker that polls takes the comparison within a moment. */
const patienceMs = 20_000;
/** PENDING_ACTIVITY_STATE_STARTED */
const started = 2;

/**
 * Starts the comparison in the deployment, which holds the key of the payment provider. Repairs nothing. Throws OpsError if no worker takes it, if
 * the payment provider fails, or if billing is off.
 */
export async function compareNow(context: OpsContext): Promise<Compared> {
  const { workers } = await callTemporal(context, () => findWorkers(context, mainTaskQueue, workflowType));
  if (workers.length === 0) throw noWorker();
  const workflowId = `billing-check-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
  const options = { taskQueue: mainTaskQueue, workflowId, args: [{ repair: false }] };
  const handle = await callTemporal(context, () => context.temporal.workflow.start('reconcileBilling', options));
  try {
    await waitForEnd(context, handle);
  } catch (error) {
    await callTemporal(context, () => handle.terminate('Nobody waits for it any more.')).catch(() => undefined);
    throw error;
  }
  const result = await callTemporal(context, () => handle.result() as Promise<ReconcileBillingResult>).catch((error: unknown) => {
    throw error instanceof WorkflowFailedError ? new OpsError(`The comparison ended early: ${error.cause?.message}`) : error;
  });
  if (!result) throw new OpsError('Billing is off on this deployment.');
  return result;
}

/** Waits for the end of the comparison. Gives up only if no worker runs it for `patienceMs`. */
async function waitForEnd(context: OpsContext, handle: WorkflowHandle): Promise<void> {
  for (let seenAt = Date.now(); ; ) {
    const description = await callTemporal(context, () => handle.describe());
    if (description.status.name !== 'RUNNING') return;
    if (isAtWork(description)) seenAt = Date.now();
    if (Date.now() - seenAt > patienceMs) throw noWorker();
    await delay(pollMs);
  }
}

/** Whether a worker is running the comparison. Throws OpsError if it failed, since nobody waits for Temporal's next attempt. */
function isAtWork({ raw }: WorkflowExecutionDescription): boolean {
  const [activity] = raw.pendingActivities ?? [];
  if (activity?.state === started) return true;
  if (activity?.lastFailure) throw new OpsError(`The comparison failed: ${activity.lastFailure.message}`);
  return false;
}

function noWorker(): OpsError {
  return new OpsError(`No worker polls the task queue ${mainTaskQueue}, so nothing can be compared. Does the API run, or a worker?`);
}
