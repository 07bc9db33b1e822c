import { type Client, WorkflowNotFoundError } from '@temporalio/client';

/** From its third attempt on a task fails by itself: the first ones may have been lost with a worker. */
const failingAttempts = 3;

/** How many workflows are asked for at once. */
const atOnce = 10;

/**
 * Of unfinished work, that whose workflow can make no progress by itself: its task fails again and again, as in a release that cannot
 * replay it, or an operator has paused its activity. Throws if Temporal cannot be reached.
 */
export async function listWedged<Work extends { workflowId: string }>(
  client: Client,
  work: readonly Work[],
): Promise<(Work & { reason: string })[]> {
  const wedged: (Work & { reason: string })[] = [];
  for (let start = 0; start < work.length; start += atOnce) {
    const reasons = work.slice(start, start + atOnce).map(async (item) => {
      const reason = await reasonOf(client, item.workflowId);
      if (reason !== undefined) wedged.push({ ...item, reason });
    });
    // All end before the first error is thrown: a call that is still retried throws where nobody catches it once its connection is closed.
    const failed = (await Promise.allSettled(reasons)).find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  }
  return wedged;
}

async function reasonOf(client: Client, workflowId: string): Promise<string | undefined> {
  const { raw } = await client.workflow
    .getHandle(workflowId)
    .describe()
    .catch((error: unknown) => {
      // The sweep starts it.
      if (error instanceof WorkflowNotFoundError) return { raw: undefined };
      throw error;
    });
  const attempts = raw?.pendingWorkflowTask?.attempt ?? 0;
  if (attempts >= failingAttempts) return `workflow ${workflowId} cannot go on: its task has failed ${attempts} times, see its history`;
  if (raw?.pendingActivities?.some(({ paused }) => paused)) return `an activity of workflow ${workflowId} is paused: unpause it`;
  return undefined;
}
