import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowFailedError } from '@temporalio/client';
import { queries } from '../contract/intents/definitions.ts';
import { callTemporal, type OpsContext, OpsError } from './context.ts';

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
 * Waits for the end of a workflow, reports each change of its progress, and returns the last state. Throws OpsError if the workflow fails
 * or Temporal cannot be reached; in the latter case the workflow goes on.
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
  while ((await callTemporal(context, () => handle.describe())).status.name === 'RUNNING') {
    // A query needs a worker; without one there is no progress to report.
    const progress = await callTemporal(context, () => handle.query<Progress>(queries.progress)).catch(() => undefined);
    if (progress && isNews(progress)) printOnce(progress);
    await delay(pollMs);
  }
  const result = await callTemporal(context, () => handle.result() as Promise<Progress>).catch((error: unknown) => {
    throw error instanceof WorkflowFailedError ? new OpsError(`The ${name} ended early: ${error.cause?.message}`) : error;
  });
  printOnce(result);
  return result;
}
