import { setTimeout as delay } from 'node:timers/promises';
import { type Client, isGrpcDeadlineError, isGrpcServiceError, WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import type { Db } from '../../db/connect.ts';

const pollMs = 200;

/**
 * Waits for the result of a workflow whose start the outbox has or had. Returns undefined if there is none after `timeoutMs`, also if
 * Temporal is unreachable, and at once if the run was ended otherwise, for example by an operator.
 */
export async function awaitResult<T>(db: Db, client: Client, workflowId: string, timeoutMs: number): Promise<T | undefined> {
  const deadline = Date.now() + timeoutMs;
  while (Date.now() < deadline) {
    try {
      // Until the start is dispatched, the latest run is an earlier one, which may have failed.
      if (await isDispatched(db, workflowId))
        return await client.withDeadline(deadline, () => client.workflow.getHandle(workflowId).result() as Promise<T>);
    } catch (error) {
      if (error instanceof WorkflowFailedError) return undefined;
      const notYet = error instanceof WorkflowNotFoundError || isGrpcDeadlineError(error) || isGrpcServiceError(error);
      if (!notYet) throw error;
    }
    await delay(Math.min(pollMs, Math.max(0, deadline - Date.now())));
  }
  return undefined;
}

/** Whether Temporal has taken every intent for the workflow. */
async function isDispatched(db: Db, workflowId: string): Promise<boolean> {
  const waiting = db.selectFrom('outbox').select('id').where('workflow_id', '=', workflowId).limit(1);
  return (await waiting.executeTakeFirst()) === undefined;
}
