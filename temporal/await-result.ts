import { setTimeout as delay } from 'node:timers/promises';
import { type Client, isGrpcDeadlineError, isGrpcServiceError, WorkflowNotFoundError } from '@temporalio/client';

const pollMs = 200;

/**
 * Waits for the result of a workflow, which may not be started yet. Returns undefined if there is none after `timeoutMs`, also if Temporal
 * is unreachable. Throws if the workflow failed.
 */
export async function awaitResult<T>(client: Client, workflowId: string, timeoutMs: number): Promise<T | undefined> {
  const deadline = Date.now() + timeoutMs;
  while (Date.now() < deadline) {
    try {
      return await client.withDeadline(deadline, () => client.workflow.getHandle(workflowId).result() as Promise<T>);
    } catch (error) {
      const notYet = error instanceof WorkflowNotFoundError || isGrpcDeadlineError(error) || isGrpcServiceError(error);
      if (!notYet) throw error;
    }
    await delay(Math.min(pollMs, Math.max(0, deadline - Date.now())));
  }
  return undefined;
}
