import { setTimeout as delay } from 'node:timers/promises';
import { type WorkflowExecutionDescription, WorkflowFailedError } from '@temporalio/client';
import { workflowType } from '../adapters/temporal/task-queue.ts';
import { mainTaskQueue, queries } from '../contract/intents/definitions.ts';
import { callTemporal, type OpsContext, OpsError } from './context.ts';
import { findWorkers } from './task-queue.ts';

const pollMs = 1_000;

/** Where Temporal's UI shows a workflow. */
export function uiLink({ config }: OpsContext, workflowId: string): string {
  const { uiUrl, namespace } = config.temporal;
  return `${uiUrl}/namespaces/${encodeURIComponent(namespace)}/workflows/${workflowId}`;
}

/** How to follow a workflow whose query `progress` and whose result have the same shape. */
interface Follow<Progress> {
  /** The name of the work, for the error. */
  name: string;
  /** Whether there is progress to show. */
  isNews(progress: Progress): boolean;
  tell(progress: Progress): void;
}

/**
 * Waits for the end of a workflow, reports each change of its progress, notes what it waits for, and returns the last state. Throws
 * OpsError if the workflow fails or Temporal cannot be reached; in the latter case the workflow goes on.
 */
export async function followWorkflow<Progress>(
  context: OpsContext,
  workflowId: string,
  { name, isNews, tell }: Follow<Progress>,
): Promise<Progress> {
  const handle = context.temporal.workflow.getHandle(workflowId);
  let told = '';
  const printOnce = (progress: Progress) => {
    const text = JSON.stringify(progress);
    if (text !== told) tell(progress);
    told = text;
  };
  let waitsFor = '';
  for (;;) {
    const description = await callTemporal(context, () => handle.describe());
    if (description.status.name !== 'RUNNING') break;
    // A query needs a worker; without one there is no progress to report.
    const progress = await callTemporal(context, () => handle.query<Progress>(queries.progress)).catch(() => undefined);
    if (progress && isNews(progress)) printOnce(progress);
    const obstacle = findFailure(description) ?? (progress ? '' : await findAbsence(context));
    if (obstacle !== waitsFor && obstacle !== '') context.note(`The ${name} waits: ${obstacle}.`);
    waitsFor = obstacle;
    await delay(pollMs);
  }
  const result = await callTemporal(context, () => handle.result() as Promise<Progress>).catch((error: unknown) => {
    throw error instanceof WorkflowFailedError ? new OpsError(`The ${name} ended early: ${error.cause?.message}`) : error;
  });
  printOnce(result);
  return result;
}

/** What an activity fails with that is tried again, by its code: the message may be encrypted. Undefined if none does. */
function findFailure({ raw }: WorkflowExecutionDescription): string | undefined {
  for (const { activityType, lastFailure } of raw.pendingActivities ?? [])
    if (lastFailure)
      return `${activityType?.name} fails with ${lastFailure.applicationFailureInfo?.type ?? 'a lost worker'}, and is tried again`;
  return undefined;
}

async function findAbsence(context: OpsContext): Promise<string> {
  const { workers } = await callTemporal(context, () => findWorkers(context, mainTaskQueue, workflowType));
  return workers.length > 0 ? '' : 'no worker runs';
}
