import type { Client } from '@temporalio/client';
import { CircuitBreaker } from '../activities/circuit-breaker.ts';
import type { ActivityDeps } from '../activities/deps.ts';
import { Embedder } from '../activities/embedder.ts';
import { handlers } from '../activities/handlers/index.ts';
import { createActivities } from '../activities/index.ts';
import { Semaphore } from '../concurrency/semaphore.ts';
import type { ServerConfig } from '../config/server.ts';
import { createDb, createPool } from '../db/connect.ts';
import type { JobKind } from '../db/schema.ts';
import { getPlan } from '../domain/billing/get-plan.ts';
import { createMailer } from '../mail/create-mailer.ts';
import { createPayments } from '../payments/payments.ts';
import { connectWorkers } from '../temporal/connect.ts';
import { ensureSchedules } from '../temporal/schedules.ts';
import { registerSearchAttributes } from '../temporal/search-attributes.ts';
import { createWorkers, forceMs } from './create-workers.ts';
import { type RunningWorkers, runWorkers } from './run-workers.ts';
import { bundleWorkflows } from './workflow-bundle.ts';

/** Starts the workers of this process, inside the API or by themselves. */
export function startWorker(
  config: ServerConfig,
  client: Client,
  deps: Pick<ActivityDeps, 'db' | 'storage' | 'ai' | 'log'>,
): RunningWorkers {
  const { concurrency, embedCalls, shutdownGraceMs } = config.worker;
  const breaker = config.jobs.holdOnOutage ? new CircuitBreaker(deps.ai, deps.log) : undefined;
  const attempts = new Semaphore(concurrency);
  const ai = breaker?.client() ?? deps.ai;
  const maintenanceDb = createDb(createPool({ url: config.database.url, poolSize: 1, name: 'sheaf maintenance', transactionMs: 0 }));
  const activities = createActivities({
    ...deps,
    maintenanceDb,
    ai,
    embedder: new Embedder(ai, embedCalls),
    breaker,
    attempts,
    jobs: config.jobs,
    mailer: createMailer(config),
    payments: createPayments({ config, db: deps.db, log: deps.log }),
    getPlan: (trx, organizationId) => getPlan(trx, config, organizationId),
    auditRetentionDays: config.auditRetentionDays,
  });
  const jobKinds = handledKinds(config);
  const { namespace } = config.temporal;
  return runWorkers({
    log: deps.log,
    connect: () => connectWorkers(config.temporal),
    bundle: bundleWorkflows,
    create: (connection, bundle) => createWorkers({ connection, namespace, activities, jobKinds, concurrency, shutdownGraceMs }, bundle),
    async prepare() {
      await registerSearchAttributes(client, namespace);
      await ensureSchedules(client);
    },
    onStop: () => {
      attempts.close();
      void maintenanceDb.destroy();
    },
    stopMs: shutdownGraceMs + forceMs,
  });
}

/** The kinds that this worker serves: all it has handlers for, or those of them that WORKER_JOB_KINDS names. */
function handledKinds(config: ServerConfig): JobKind[] {
  const all = Object.keys(handlers) as JobKind[];
  const named = config.worker.jobKinds;
  if (!named) return all;
  return all.filter((kind) => named.includes(kind));
}
