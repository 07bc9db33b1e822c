import type { WorkflowHandle } from '@temporalio/client';

const suffix = 'EventAttributes';

/** The types of a workflow's events, in their order, such as `workflowExecutionStarted`. None if there is no such workflow. */
export async function eventsOf(handle: Pick<WorkflowHandle, 'fetchHistory'>): Promise<string[]> {
  const history = await handle.fetchHistory().catch(() => undefined);
  return (history?.events ?? []).map(
    (event) =>
      Object.entries(event)
        .find(([name, value]) => name.endsWith(suffix) && value)?.[0]
        .replace(suffix, '') ?? '',
  );
}
