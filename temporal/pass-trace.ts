import type { WorkflowClientInterceptor } from '@temporalio/client';
import { currentTraceparent } from '../telemetry/spans.ts';
import { withTraceparent } from '../workflows/trace-header.ts';

/** Passes the trace that a start or a signal is a part of on to the workflow. */
export const passTrace: WorkflowClientInterceptor = {
  startWithDetails: (input, next) => next({ ...input, headers: withTraceparent(input.headers, currentTraceparent()) }),
  signalWithStart: (input, next) => next({ ...input, headers: withTraceparent(input.headers, currentTraceparent()) }),
};
