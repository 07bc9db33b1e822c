import { setTimeout as delay } from 'node:timers/promises';
import { context, type HrTime, SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import type { TracingConfig } from '../config/tracing.ts';
import type { EndedSpan } from './spans.ts';
import { parseTraceparent } from './trace-parent.ts';

type Destination = TracingConfig & { endpoint: string };

interface SpanExport {
  tracer: Tracer;
  record(span: EndedSpan): void;
  stop(): Promise<void>;
}

const stopMs = 1_000;

/**
 * Sends spans to a collector by OTLP over HTTP, in batches in the background. What does not fit into the queue, or the collector refuses, is
 * dropped. Nothing is registered globally: what libraries would record of requests and statements may hold contents of tenants.
 */
export function exportSpans({ endpoint, headers, sampler, batchDelayMs }: Destination, part: string, log: Logger): SpanExport {
  const exporter = loggingFailures(new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, headers }), log);
  const processor = new BatchSpanProcessor({ exporter, scheduledDelayMillis: batchDelayMs });
  const named = resourceFromAttributes({ 'service.name': `sheaf-${part}`, 'service.namespace': 'sheaf', 'sheaf.process': part });
  const resource = named.merge(detectResources({ detectors: [envDetector] }));
  const provider = new TracerProvider({ resource, sampler: createSampler(sampler.name, sampler.ratio), spanProcessors: [processor] });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  return {
    tracer: provider.getTracer('sheaf'),
    record(span) {
      const made = toReadable(span, resource);
      if (made) processor.onEnd(made);
    },
    stop: () => Promise.race([provider.shutdown().catch(() => {}), delay(stopMs)]),
  };
}

function createSampler(name: string, ratio: number): Sampler {
  const root = name.replace(/^parentbased_/, '');
  if (root !== name) return new ParentBasedSampler({ root: createSampler(root, ratio) });
  if (root === 'traceidratio') return new TraceIdRatioBasedSampler(ratio);
  return root === 'always_off' ? new AlwaysOffSampler() : new AlwaysOnSampler();
}

/** Undefined if its trace is not recorded. */
function toReadable(span: EndedSpan, resource: ReadableSpan['resource']): ReadableSpan | undefined {
  const parent = parseTraceparent(span.traceparent);
  if (!parent || parent.traceFlags === 0) return undefined;
  return {
    name: span.name,
    kind: SpanKind.INTERNAL,
    spanContext: () => ({ traceId: parent.traceId, spanId: span.spanId, traceFlags: parent.traceFlags }),
    parentSpanContext: parent,
    startTime: toHrTime(span.startMs),
    endTime: toHrTime(span.endMs),
    duration: toHrTime(span.endMs - span.startMs),
    ended: true,
    status: { code: span.failed ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
    attributes: span.attributes,
    ...{ links: [], events: [], droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0 },
    resource,
    instrumentationScope: { name: 'sheaf' },
  };
}

function toHrTime(ms: number): HrTime {
  return [Math.floor(ms / 1_000), (ms % 1_000) * 1_000_000];
}

/** The same exporter, which logs when spans begin to be lost, and when they are taken again. */
function loggingFailures(exporter: SpanExporter, log: Logger): SpanExporter {
  let failing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const failed = result.error !== undefined;
        if (failed && !failing) log.warn({ err: result.error }, 'the collector does not take traces; they are dropped');
        if (!failed && failing) log.info('the collector takes traces again');
        failing = failed;
        done(result);
      });
    },
    forceFlush: async () => await exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}
