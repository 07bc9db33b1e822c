import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Fact, Observe } from '../../db/facts.ts';
import type { AiClient } from '../ai-service/client.ts';
import { AiServiceError } from '../ai-service/client.ts';

/** A request that got its response, or whose client left before (`aborted`). */
interface ObservedRequest {
  /** The operation of the contract, an endpoint of sign-in, or the name of another served path. Never the path itself. */
  operation: string;
  status: number | 'aborted';
  /** Undefined for a stream, which lasts as long as its client likes. */
  seconds: number | undefined;
}

/** The metrics of the API and the worker. No label holds an id: each has few values, known in advance. */
export interface ServerMetrics {
  observeRequest(request: ObservedRequest): void;
  observeFact: Observe;
  /** Measures the calls of a client of the AI service. */
  observeAi(client: AiClient): AiClient;
  observePoolWait(pool: string, seconds: number): void;
  /** The steps of scheduled workflows: those that this process runs, when each succeeded, and what the check of the ledger found. */
  steps: { expected(step: string): void; succeeded(step: string): void; ledgerChecked(result: 'sound' | 'off'): void };
  skippedEvents: { add(count: number): void };
}

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const longSeconds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/** Registers the metrics of the API and the worker. */
export function createServerMetrics(registry: Registry): ServerMetrics {
  const registers = [registry];
  const requests = new Counter({
    name: 'sheaf_http_requests_total',
    help: 'Requests by operation and status; aborted: the client left before the response',
    labelNames: ['operation', 'status'],
    registers,
  });
  const durations = new Histogram({
    name: 'sheaf_http_request_duration_seconds',
    help: 'How long requests took, without streams',
    labelNames: ['operation'],
    buckets: seconds,
    registers,
  });
  const poolWaits = new Histogram({
    name: 'sheaf_database_pool_wait_seconds',
    help: 'How long callers waited for a connection of the pool',
    labelNames: ['pool'],
    buckets: [0.001, ...seconds],
    registers,
  });
  const skipped = new Counter({
    name: 'sheaf_stream_events_skipped',
    help: 'Events of streams that do not fit the contract',
    registers,
  });
  return {
    observeRequest({ operation, status, seconds: took }) {
      requests.inc({ operation, status: String(status) });
      if (took !== undefined) durations.observe({ operation }, took);
    },
    observeFact: countFacts(registry),
    observeAi: measureAi(registry),
    observePoolWait: (pool, took) => poolWaits.observe({ pool }, took),
    steps: watchSteps(registry),
    skippedEvents: { add: (count) => skipped.inc(count) },
  };
}

function watchSteps(registry: Registry): ServerMetrics['steps'] {
  const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames: ['step'], registers: [registry] });
  // Alerts need a time to count from if a step has never succeeded.
  const expected = gauge('sheaf_scheduled_step_expected_timestamp_seconds', 'Since when this process runs a step of a scheduled workflow');
  const succeeded = gauge(
    'sheaf_scheduled_step_success_timestamp_seconds',
    'When a step of a scheduled workflow last succeeded in this process',
  );
  const ledger = new Gauge({
    name: 'sheaf_ledger_checked_timestamp_seconds',
    help: 'When the daily check last found the ledger sound, and when off, in this process; 0: not yet',
    labelNames: ['result'],
    registers: [registry],
  });
  for (const result of ['sound', 'off']) ledger.set({ result }, 0);
  return {
    expected: (step) => expected.setToCurrentTime({ step }),
    succeeded: (step) => succeeded.setToCurrentTime({ step }),
    ledgerChecked: (result) => ledger.setToCurrentTime({ result }),
  };
}

function countFacts(registry: Registry): Observe {
  const registers = [registry];
  const created = new Counter({ name: 'sheaf_jobs_created_total', help: 'Jobs that were queued', labelNames: ['kind'], registers });
  const begun = new Counter({ name: 'sheaf_job_attempts_total', help: 'Attempts that were begun', labelNames: ['kind'], registers });
  const outcomes = new Counter({
    name: 'sheaf_job_outcomes_total',
    help: 'What attempts and jobs came to; retried: the attempt failed and its job is queued again; failed: for good; obsolete: failed, since its document or workspace was deleted',
    labelNames: ['kind', 'outcome'],
    registers,
  });
  const attemptSeconds = new Histogram({
    name: 'sheaf_job_attempt_duration_seconds',
    help: 'How long attempts took',
    labelNames: ['kind', 'outcome'],
    buckets: longSeconds,
    registers,
  });
  const labelNames = ['purpose'] as const;
  const charged = new Counter({ name: 'sheaf_credits_charged_total', help: 'Credits charged', labelNames, registers });
  const refunded = new Counter({ name: 'sheaf_credits_refunded_total', help: 'Credits given back', labelNames, registers });
  const uploads = new Counter({ name: 'sheaf_uploads_completed_total', help: 'Uploads that were completed', registers });
  const uploadBytes = new Counter({ name: 'sheaf_upload_bytes_total', help: 'Bytes of completed uploads', registers });
  const scans = new Histogram({
    name: 'sheaf_search_scan_duration_seconds',
    help: 'How long chunks took to find in the database, by the way they were found; lexical: by words alone',
    labelNames: ['path'],
    buckets: [0.001, ...seconds],
    registers,
  });
  return (fact: Fact) => {
    switch (fact.what) {
      case 'job created':
        return created.inc({ kind: fact.kind });
      case 'attempt begun':
        return begun.inc({ kind: fact.kind });
      case 'job changed': {
        const labels = { kind: fact.kind, outcome: fact.outcome };
        outcomes.inc(labels);
        if (fact.seconds !== undefined) attemptSeconds.observe(labels, fact.seconds);
        return;
      }
      case 'credits charged':
        return charged.inc({ purpose: fact.purpose }, fact.credits);
      case 'credits refunded':
        return refunded.inc({ purpose: fact.purpose }, fact.credits);
      case 'upload completed':
        uploads.inc();
        return uploadBytes.inc(fact.bytes);
      case 'search scanned':
        return scans.observe({ path: fact.path }, fact.seconds);
    }
  };
}

/**
 * The outcome of a call to the AI service. `refused` is about the deployment (a wrong token, a rate limit), `rejected` about the document.
 */
export const aiOutcomes = ['ok', 'aborted', 'refused', 'rejected', 'unreachable', 'unusable_answer', 'failed'] as const;
type AiOutcome = (typeof aiOutcomes)[number];

function outcomeOf(error: unknown): AiOutcome {
  if (!(error instanceof AiServiceError)) return 'aborted';
  return error.kind === 'rejected' && error.retryable ? 'refused' : error.kind;
}

function measureAi(registry: Registry): (client: AiClient) => AiClient {
  const calls = new Histogram({
    name: 'sheaf_ai_call_duration_seconds',
    help: 'How long calls of the AI service took; the outcome is ok, aborted, refused (a wrong token, a rate limit), or the kind of the error',
    labelNames: ['operation', 'outcome'],
    buckets: longSeconds,
    registers: [registry],
  });
  async function measure<T>(operation: string, call: Promise<T>): Promise<T> {
    const startedAt = performance.now();
    const ended = (outcome: AiOutcome) => calls.observe({ operation, outcome }, (performance.now() - startedAt) / 1_000);
    try {
      const result = await call;
      ended('ok');
      return result;
    } catch (error) {
      ended(outcomeOf(error));
      throw error;
    }
  }
  return (client) => {
    const measured = Object.entries(client).map(([name, call]: [string, (input: never) => Promise<unknown>]) => [
      name,
      (input: never) => measure(name === 'embedFloats' ? 'embed' : name, call(input)),
    ]);
    return Object.fromEntries(measured);
  };
}
