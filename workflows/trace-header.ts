import { defaultPayloadConverter, type Headers } from '@temporalio/common';

/** The header by which a start passes the trace that it is a part of on to the workflow, and that to its activities. As Temporal's own interceptors. */
const traceHeader = '_tracer-data';

/** The trace that a workflow or an activity was passed; undefined if it is of none. */
export function traceparentOf(headers: Headers): string | undefined {
  const payload = headers[traceHeader];
  return payload && defaultPayloadConverter.fromPayload<{ traceparent?: string }>(payload).traceparent;
}

/** The same headers, with the trace if there is one. */
export function withTraceparent(headers: Headers, traceparent: string | undefined): Headers {
  return traceparent === undefined ? headers : { ...headers, [traceHeader]: defaultPayloadConverter.toPayload({ traceparent }) };
}
