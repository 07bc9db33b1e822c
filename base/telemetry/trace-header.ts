import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import type { Sinks } from '@temporalio/workflow';
import type { EndedSpan } from './spans.ts';

/** The sink by which the sandbox reports the span of a traced run, once the run has ended. */
export interface TraceSinks extends Sinks {
  traces: {
    ended(run: Omit<EndedSpan, 'attributes'>): void;
  };
}

/**
 * The header that passes the trace of a start on to the workflow, and from there to its activities. Temporal's own interceptors use the
 * same.
 */
const traceHeader = '_tracer-data';

/** The trace that was passed to a workflow or an activity; undefined if there is none. */
export function traceparentOf(headers: Headers): string | undefined {
  const payload = headers[traceHeader];
  return payload && defaultPayloadConverter.fromPayload<{ traceparent?: string }>(payload).traceparent;
}

/** The same headers, with the trace if there is one. */
export function withTraceparent(headers: Headers, traceparent: string | undefined): Headers {
  return traceparent === undefined ? headers : { ...headers, [traceHeader]: defaultPayloadConverter.toPayload({ traceparent }) };
}
