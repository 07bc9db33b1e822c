import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowFailedError } from '@temporalio/client';
import { queries, type ReplayProgress } from '../workflows/definitions.ts';
import { askTemporal } from './ask-temporal.ts';
import { type OpsContext, OpsError } from './command.ts';

const pollMs = 1_000;

/**
 * Follows a replay to its end, telling each change, and answers where it ended. Throws OpsError where it fails, or where Temporal
 * goes away; the replay itself goes on then.
 */
export async function followReplay(
  context: OpsContext,
  workflowId: string,
  tell: (progress: ReplayProgress) => void,
): Promise<ReplayProgress> {
  const handle = context.temporal.workflow.getHandle(workflowId);
  let told = '';
  const tellOnce = (progress: ReplayProgress) => {
    const text = JSON.stringify(progress);
    if (text !== told) tell(progress);
    told = text;
  };
  while ((await askTemporal(context, () => handle.describe())).status.name === 'RUNNING') {
    // A query needs a worker: while none answers, there is nothing new to tell.
    const progress = await askTemporal(context, () => handle.query<ReplayProgress>(queries.progress)).catch(() => undefined);
    if (progress && progress.matched > 0) tellOnce(progress);
    await delay(pollMs);
  }
  const result = await askTemporal(context, () => handle.result() as Promise<ReplayProgress>).catch((error: unknown) => {
    throw error instanceof WorkflowFailedError ? new OpsError(`The replay ended early: ${error.cause?.message}`) : error;
  });
  tellOnce(result);
  return result;
}
