import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { continueTrace, inSpan } from '../telemetry/spans.ts';
import { logFieldsOf } from '../temporal/log-fields.ts';
import { traceparentOf } from '../workflows/trace-header.ts';

/** An activity is a span of its workflow's trace. One of a workflow that is of none begins none: scheduled work would fill the collector. */
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
