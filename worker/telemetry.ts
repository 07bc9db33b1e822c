import type { ActivityInterceptorsFactory, InjectedSinks } from '@temporalio/worker';
import { logFieldsOf } from '../adapters/temporal/log-fields.ts';
import { withLogFields } from '../base/telemetry/log-context.ts';
import { continueTrace, inSpan } from '../base/telemetry/spans.ts';
import type { Tracing } from '../base/telemetry/start-tracing.ts';
import { type TraceSinks, traceparentOf } from '../base/telemetry/trace-header.ts';

/** Every log line of an activity names its workflow, and the job that the workflow runs. */
export const logActivities: ActivityInterceptorsFactory = ({ info }) => {
  const fields = { ...(info.workflowExecution && logFieldsOf(info.workflowExecution.workflowId)), activity: info.activityType };
  return { inbound: { execute: (input, next) => withLogFields(fields, () => next(input)) } };
};

/**
 * Makes each activity a span of the trace that its workflow belongs to. An activity of any other workflow gets no span: scheduled work would
 * fill the collector.
 */
export const traceActivities: ActivityInterceptorsFactory = ({ info }) => {
  const { workflowId, jobId } = info.workflowExecution ? logFieldsOf(info.workflowExecution.workflowId) : {};
  const attributes = {
    'sheaf.workflow_id': workflowId,
    'sheaf.job_id': jobId,
    'sheaf.task_queue': info.taskQueue,
    'sheaf.attempt': info.attempt,
  };
  const name = `RunActivity:${info.activityType}`;
  return {
    inbound: {
      execute: (input, next) =>
        continueTrace(traceparentOf(input.headers), () => inSpan(name, { kind: 'consumer', attributes }, () => next(input))),
    },
  };
};

/** The sink for spans of workflows; it drops them if nothing is traced. */
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
