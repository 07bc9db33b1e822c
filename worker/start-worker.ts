import type { Client } from '@temporalio/client';
import type { ActivityDeps } from '../activities/deps.ts';
import { Embedder } from '../activities/embedder.ts';
import { handlers } from '../activities/handlers.ts';
import { createActivities } from '../activities/index.ts';
import { createMailer } from '../adapters/mail/create-mailer.ts';
import { canConnect, connectWorkers, responds } from '../adapters/temporal/connect.ts';
import { createDataConverter } from '../adapters/temporal/data-converter.ts';
import { checkNamespaceOwner, prepareNamespace, restoreSchedules, workerIdentity } from '../adapters/temporal/namespace.ts';
import type { Outbox } from '../adapters/temporal/outbox.ts';
import { createSender } from '../adapters/webhooks/create-sender.ts';
import { Semaphore } from '../base/concurrency/semaphore.ts';
import { authSecrets, deriveKeys } from '../base/config/keys.ts';
import type { ServerConfig } from '../base/config/server.ts';
import type { Tracing } from '../base/telemetry/start-tracing.ts';
import { createDb, createPool } from '../db/connect.ts';
import type { JobKind } from '../db/schema.ts';
import { createGetPlan } from '../domain/billing/plan.ts';
import { createPayments } from '../domain/payments/payments.ts';
import { findReadOnly } from '../domain/platform/read-only.ts';
import { createSecretBox } from '../domain/secret-box.ts';
import { checkStoreOwner, readDeployment, UnmarkedStore, WrongStore } from '../domain/stored-objects/store-owner.ts';
import { createSecondFactorBox } from '../domain/users/second-factor-box.ts';
import { createWorkers, forceMs } from './create-workers.ts';
import { RunningWorkers } from './run-workers.ts';
import { createTraceSinks } from './telemetry.ts';
import { untilReconnected } from './until-reconnected.ts';
import { bundleWorkflows } from './workflow-bundle.ts';

type SharedParts = Pick<ActivityDeps, 'db' | 'storage' | 'ai' | 'log' | 'steps'>;

interface WorkerParts extends SharedParts {
  outbox: Outbox;
  /** Undefined while nothing is traced. */
  tracing: Tracing | undefined;
}

/** Starts the workers of this process, inside the API or by themselves. The process's outbox shares their connection. */
export function startWorker(config: ServerConfig, client: Client, { outbox, tracing, ...parts }: WorkerParts): RunningWorkers {
  const deps = createDeps(config, parts);
  const activities = createActivities(deps);
  const jobKinds = handledKinds(config);
  const { concurrency, shutdownGraceMs } = config.worker;
  const { namespace } = config.temporal;
  const sinks = createTraceSinks(tracing);
  const dataConverter = createDataConverter(config.temporal);
  return new RunningWorkers({
    log: deps.log,
    connect: () => connectWorkers(config.temporal),
    bundle: () => bundleWorkflows(dataConverter),
    create: async (connection, bundle) =>
      createWorkers(
        {
          identity: workerIdentity(await readDeployment(deps.db)),
          ...{ connection, namespace, dataConverter, activities, jobKinds, concurrency, shutdownGraceMs, sinks },
          webhooks: config.webhooks.enabled,
          findReadOnly: () => findReadOnly(deps.db),
        },
        bundle,
      ),
    prepare: async () => {
      await checkNamespaceOwner(client, namespace, await readDeployment(deps.db));
      await prepareNamespace(client, namespace);
      await checkStoreOwner(deps.db, deps.storage, { stores: false }).catch((err) => {
        // With the wrong store jobs would not find their documents, and would fail for good.
        if (err instanceof WrongStore || err instanceof UnmarkedStore) throw err;
        deps.log.error({ err }, 'the store is not ready: nothing is deleted there');
      });
    },
    onConnection: (connection) => outbox.shareConnection(connection),
    untilReconnected: (signal) =>
      untilReconnected(
        {
          responds: () => responds(client),
          canConnect: () => canConnect(config.temporal),
          tend: () => restoreSchedules(client).catch((err) => deps.log.warn({ err }, 'the schedules were not restored')),
        },
        signal,
      ),
    onStop: () => {
      deps.attempts.close();
      void deps.maintenanceDb.destroy();
      void deps.bulkDb.destroy();
    },
    stopMs: shutdownGraceMs + forceMs,
  });
}

/** How many steps of bulk work run at once: each deletes an organization, or switches a workspace. */
const bulkConnections = 2;

function createDeps(config: ServerConfig, parts: SharedParts): ActivityDeps {
  const { url, pooled } = config.database;
  return {
    ...parts,
    bulkDb: createDb(createPool({ url, pooled, poolSize: bulkConnections, name: 'sheaf bulk work', work: 'bulk' })),
    maintenanceDb: createDb(createPool({ url: config.database.directUrl, poolSize: 1, name: 'sheaf maintenance', work: 'maintenance' })),
    embedder: new Embedder(parts.ai, config.worker.embedCalls),
    reindexEmbedder: new Embedder(parts.ai, 1),
    attempts: new Semaphore(config.worker.concurrency),
    jobs: config.jobs,
    mailer: createMailer(config),
    payments: createPayments({ config, db: parts.db, log: parts.log }),
    getPlan: createGetPlan(config),
    webhooks: config.webhooks.enabled ? { sender: createSender(config.webhooks), retryDelaysMs: config.webhooks.retryDelaysMs } : undefined,
    secrets: createSecretBox(...deriveKeys(config, 'at-rest')),
    secondFactors: createSecondFactorBox(authSecrets(config)),
    auditRetentionDays: config.auditRetentionDays,
  };
}

/** The kinds that WORKER_JOB_KINDS names, or all that have a handler. */
function handledKinds(config: ServerConfig): JobKind[] {
  const all = Object.keys(handlers) as JobKind[];
  const named = config.worker.jobKinds;
  if (!named) return all;
  return all.filter((kind) => named.includes(kind));
}
