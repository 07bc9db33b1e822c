import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { withLogFields } from '../telemetry/log-context.ts';
import { logFieldsOf } from '../temporal/log-fields.ts';

/** Every line that is logged during an activity names its workflow, and the job that the workflow runs. */
export const logActivities: ActivityInterceptorsFactory = ({ info }) => {
  const fields = { ...(info.workflowExecution && logFieldsOf(info.workflowExecution.workflowId)), activity: info.activityType };
  return { inbound: { execute: (input, next) => withLogFields(fields, () => next(input)) } };
};
