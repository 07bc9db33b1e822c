import type { SpanContext } from '@opentelemetry/api';

const form = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const none = /^0+$/;

/** The context of a trace, as in W3C's header `traceparent`. */
export function formatTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** The trace context of such a header; undefined if it is invalid. */
export function parseTraceparent(traceparent: string | null | undefined): SpanContext | undefined {
  const [, traceId = '', spanId = '', flags = ''] = form.exec(traceparent ?? '') ?? [];
  if (none.test(traceId) || none.test(spanId) || traceId === '') return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}
