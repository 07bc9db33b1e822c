import type { Logger } from 'pino';
import type { AiClient } from '../ai/client.ts';
import type { Semaphore } from '../concurrency/semaphore.ts';
import type { Db } from '../db/connect.ts';
import type { GetPlan } from '../domain/billing/plan.ts';
import type { Mailer } from '../mail/port.ts';
import type { Payments } from '../payments/payments.ts';
import type { Storage } from '../storage/port.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import type { Embedder } from './embedder.ts';

/** Is told of each step of the scheduled workflows that this process runs, before the first one, and of each that succeeded. */
interface StepObserver {
  expected(step: string): void;
  succeeded(step: string): void;
}

/** Everything that activities work with. `worker/start-worker.ts` makes it. */
export interface ActivityDeps {
  db: Db;
  /** For transactions that change as much as a tenant has, but no job. */
  bulkDb: Db;
  /** A connection of its own, for statements that take minutes. */
  maintenanceDb: Db;
  storage: Storage;
  ai: AiClient;
  embedder: Embedder;
  /** One call at a time, so that re-embedding leaves room for jobs. */
  reindexEmbedder: Embedder;
  mailer: Mailer;
  log: Logger;
  /** Limits the attempts of all kinds in this process: `WORKER_CONCURRENCY`. Closed when the process stops. */
  attempts: Semaphore;
  jobs: { timeoutMs: number; retryDelaysMs: readonly number[] };
  getPlan: GetPlan;
  /** Holds attempts back while the AI service is down; undefined if an outage costs attempts, which is the default. */
  breaker?: CircuitBreaker | undefined;
  /** Undefined while billing is off. */
  payments?: Payments | undefined;
  /** Is told of the steps of the scheduled workflows. */
  steps?: StepObserver | undefined;
  /** How many days audit entries are kept; 0 for ever. */
  auditRetentionDays: number;
}
