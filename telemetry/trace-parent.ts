import type { SpanContext } from '@opentelemetry/api';

const form = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const none = /^0+$/;

/** A place in a trace as the header `traceparent` of W3C has it. */
export function formatTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** The place in a trace that such a header names; undefined if it names none. */
export function parseTraceparent(traceparent: string | null | undefined): SpanContext | undefined {
  const [, traceId = '', spanId = '', flags = ''] = form.exec(traceparent ?? '') ?? [];
  if (none.test(traceId) || none.test(spanId) || traceId === '') return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}
