import type { Logger } from 'pino';
import type { TracingConfig } from '../config/tracing.ts';
import { type EndedSpan, setTracer } from './spans.ts';

/** A process that traces. */
export interface Tracing {
  record(span: EndedSpan): void;
  /** Exports the remaining spans, for at most a second. */
  stop(): Promise<void>;
}

/**
 * Begins to trace if the configuration names a collector; otherwise nothing of OpenTelemetry's SDK is loaded. `part` is `api`, `worker` or
 * `ai`.
 */
export async function startTracing(config: TracingConfig, part: string, log: Logger): Promise<Tracing | undefined> {
  const { endpoint } = config;
  if (endpoint === undefined) return undefined;
  const { exportSpans } = await import('./export-spans.ts');
  const { tracer, record, stop } = exportSpans({ ...config, endpoint }, part, log);
  setTracer(tracer);
  return {
    record,
    async stop() {
      setTracer(undefined);
      await stop();
    },
  };
}
