import { Counter, Histogram, type Registry } from 'prom-client';
import { show } from '../base/telemetry/gauges.ts';

interface AiServiceParts {
  /** How many processes read documents. */
  readers: number;
  readLoad: () => { running: number; waiting: number };
}

/** Registers the metrics of the AI service. Returns the observer of requests. */
export function createAiServiceMetrics(registry: Registry, { readers, readLoad }: AiServiceParts) {
  const registers = [registry];
  const requests = new Counter({
    name: 'sheaf_ai_service_requests_total',
    help: 'Requests to the AI service by operation and status',
    labelNames: ['operation', 'status'],
    registers,
  });
  const durations = new Histogram({
    name: 'sheaf_ai_service_request_duration_seconds',
    help: 'How long requests to the AI service took',
    labelNames: ['operation'],
    buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
    registers,
  });
  show(registry, 'sheaf_ai_service_readers', 'Processes that read documents', () => readers);
  show(registry, 'sheaf_ai_service_readers_busy', 'Processes that read a document now', () => readLoad().running);
  show(registry, 'sheaf_ai_service_readers_waiting', 'Documents that wait for a process to read them', () => readLoad().waiting);
  return ({ operation, status, seconds }: { operation: string; status: number | 'aborted'; seconds: number }) => {
    requests.inc({ operation, status: String(status) });
    durations.observe({ operation }, seconds);
  };
}
