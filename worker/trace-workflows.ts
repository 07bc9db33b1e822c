import type { InjectedSinks } from '@temporalio/worker';
import type { Tracing } from '../telemetry/start-tracing.ts';
import type { TraceSinks } from '../workflows/definitions.ts';

/** Takes the spans of workflows out of their sandbox; to nowhere while nothing is traced. */
export function createTraceSinks(tracing: Tracing | undefined): InjectedSinks<TraceSinks> {
  return {
    traces: {
      ended: {
        fn: ({ workflowId, runId }, run) =>
          tracing?.record({ ...run, attributes: { 'sheaf.workflow_id': workflowId, 'sheaf.run_id': runId } }),
        callDuringReplay: false,
      },
    },
  };
}
