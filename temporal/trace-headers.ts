import type { WorkflowClientInterceptor } from '@temporalio/client';
import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import { currentTraceparent } from '../telemetry/spans.ts';
import { traceHeader } from '../workflows/definitions.ts';

/** Passes the trace that a start or a signal is a part of on to the workflow. */
export const passTrace: WorkflowClientInterceptor = {
  startWithDetails: (input, next) => next({ ...input, headers: withTrace(input.headers) }),
  signalWithStart: (input, next) => next({ ...input, headers: withTrace(input.headers) }),
};

/** The trace that an activity was passed; undefined if its workflow is of none. */
export function traceparentOf(headers: Headers): string | undefined {
  const payload = headers[traceHeader];
  if (!payload) return undefined;
  const { traceparent } = defaultPayloadConverter.fromPayload<{ traceparent?: string }>(payload);
  return traceparent;
}

function withTrace(headers: Headers): Headers {
  const traceparent = currentTraceparent();
  return traceparent === undefined ? headers : { ...headers, [traceHeader]: defaultPayloadConverter.toPayload({ traceparent }) };
}
