import type { Logger } from 'pino';
import type { AiClient } from '../adapters/ai-service/client.ts';
import type { Mailer } from '../adapters/mail/port.ts';
import type { Storage } from '../adapters/storage/port.ts';
import type { WebhookSender } from '../adapters/webhooks/port.ts';
import type { Semaphore } from '../base/concurrency/semaphore.ts';
import type { Db } from '../db/connect.ts';
import type { GetPlan } from '../domain/billing/plan.ts';
import type { OutageTimes } from '../domain/outages/outage.ts';
import type { Payments } from '../domain/payments/payments.ts';
import type { Resealer, SecretBox } from '../domain/secret-box.ts';
import type { Embedder } from './embedder.ts';

/** Observes the steps of the scheduled workflows that this process runs: each before the first run, each success, and what the ledger is. */
interface StepObserver {
  expected(step: string): void;
  succeeded(step: string): void;
  ledgerChecked(result: 'sound' | 'off'): void;
}

/** Everything that activities work with. `worker/start-worker.ts` makes it. */
export interface ActivityDeps {
  db: Db;
  /** The pool for transactions that may change all data of a tenant, but no job. */
  bulkDb: Db;
  /** A single connection for statements that take minutes. */
  maintenanceDb: Db;
  storage: Storage;
  ai: AiClient;
  embedder: Embedder;
  /** One call at a time, so that re-embedding leaves capacity to jobs. */
  reindexEmbedder: Embedder;
  mailer: Mailer;
  log: Logger;
  /** Limits the attempts of all kinds in this process: `WORKER_CONCURRENCY`. Closed when the process stops. */
  attempts: Semaphore;
  jobs: { timeoutMs: number; retryDelaysMs: readonly number[]; outages: OutageTimes };
  getPlan: GetPlan;
  /** Undefined while billing is off. */
  payments?: Payments | undefined;
  /** Observes the steps of the scheduled workflows. */
  steps?: StepObserver | undefined;
  /** Sends requests to webhook endpoints, and the waits between the attempts of one; undefined while webhooks are off. */
  webhooks?: { sender: WebhookSender; retryDelaysMs: readonly number[] } | undefined;
  /** Opens the secrets of webhook endpoints. */
  secrets: SecretBox;
  /** Encrypts second factors again once AUTH_SECRET changes. */
  secondFactors: Resealer;
  /** How many days audit entries are kept; 0 for ever. */
  auditRetentionDays: number;
}
