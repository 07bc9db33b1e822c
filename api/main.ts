import { setTimeout as delay } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { openMailbox } from '../adapters/mail/mailbox.ts';
import { createStorage } from '../adapters/storage/create-storage.ts';
import { LocalStorage } from '../adapters/storage/local.ts';
import { traceStorage } from '../adapters/storage/traced-storage.ts';
import { createAiClient } from '../ai/client.ts';
import { findKey } from '../auth/api-key.ts';
import { createAuth } from '../auth/auth.ts';
import { mountAuth } from '../auth/mount.ts';
import { createFindSession } from '../auth/session.ts';
import { deriveKey } from '../config/keys.ts';
import { loadOrExit } from '../config/load-or-exit.ts';
import { loadServerConfig } from '../config/server.ts';
import { jobKinds } from '../contract/jobs.ts';
import { followClock } from '../db/clock.ts';
import { createDb, createPool } from '../db/connect.ts';
import { listen } from '../db/listen.ts';
import { migrate } from '../db/migrate.ts';
import { openPools } from '../db/pools.ts';
import { getPlan } from '../domain/billing/plan.ts';
import { syncPlanLimits } from '../domain/billing/sync-plan-limits.ts';
import { createChangeReader } from '../domain/jobs/list-changed-jobs.ts';
import { checkStoreOwner, WrongStore } from '../domain/objects/store-owner.ts';
import { measureLockWaits, measureQueues, measureWaiting } from '../domain/operations/measure-platform.ts';
import { createCursors } from '../domain/page.ts';
import { createEmbeddingPrice } from '../domain/search/embedding-price.ts';
import { syncWebhookSwitch } from '../domain/webhooks/sync-switch.ts';
import { createCancelSubscription } from '../payments/cancel-subscription.ts';
import { createPayments } from '../payments/payments.ts';
import { createLog } from '../telemetry/create-log.ts';
import { watchStreams } from '../telemetry/gauges.ts';
import { logCrashes } from '../telemetry/log-crashes.ts';
import { serveMetrics } from '../telemetry/serve-metrics.ts';
import { createServerMetrics } from '../telemetry/server-metrics.ts';
import { startTracing } from '../telemetry/start-tracing.ts';
import { watchBacklog } from '../telemetry/watch-backlog.ts';
import { watchDatabase } from '../telemetry/watch-parts.ts';
import { awaitResult } from '../temporal/await-result.ts';
import { createTemporalClient } from '../temporal/connect.ts';
import { createOutbox } from '../temporal/outbox.ts';
import { installRuntime } from '../temporal/runtime.ts';
import { startWorker } from '../worker/start-worker.ts';
import { workflowIds } from '../workflows/definitions.ts';
import { createApp } from './app.ts';
import { findStreamMembership } from './caller.ts';
import type { ApiDeps } from './deps.ts';
import { createApiServer } from './http/create-server.ts';
import { clientAddressOf } from './http/request.ts';
import { LargeBodies } from './limits/large-bodies.ts';
import { createLimiters } from './limits/limiters.ts';
import { OrganizationLimits } from './limits/organization-limits.ts';
import { createMailQueue } from './mail-queue.ts';
import { JobStreams } from './streams/job-streams.ts';
import { createLeases } from './streams/leases.ts';

/** A request that waits for the bucket must end within three seconds. */
const storageTimeoutMs = 2_500;

const config = loadOrExit(() => loadServerConfig(process.env));
const log = createLog({ level: config.logLevel, base: { part: 'api' } });
logCrashes(log);
const tracing = await startTracing(config.tracing, 'api', log);
if (config.production && config.limits.store === 'memory')
  log.warn('LIMITER_STORE is memory: each process of the API counts limits alone, so two of them allow twice as much');
if (config.email.provider === 'mailbox') log.warn('mails are not sent, but kept: platform admins read them in the console');
const readSdkMetrics = await installRuntime({ log, measures: config.metrics.port > 0 });
const registry = new Registry();
const metrics = createServerMetrics(registry);

const pools = openPools({
  database: config.database,
  name: 'sheaf api',
  runsWorker: config.worker.enabled,
  onError: (error) => log.warn({ err: error }, 'an idle database connection was lost'),
});
const db = createDb(pools.requests);
const sessionsDb = createDb(pools.sessions);
const workerDb = pools.worker && createDb(pools.worker);
watchDatabase(registry, metrics, {
  pools: { requests: pools.requests, sessions: pools.sessions, ...(pools.worker && { worker: pools.worker }) },
  dbs: workerDb ? [db, workerDb] : [db],
});
const { directUrl } = config.database;
const migrationDb = createDb(createPool({ url: directUrl, poolSize: 2, name: 'sheaf migrations', work: 'migration' }));
const onBusy = (migration: string) => log.warn({ migration }, 'a migration waits for a lock; it is tried again');
const onWait = (waitedMs: number) => log.warn({ waitedMs }, 'another process applies migrations; this start waits for it');
await migrate(migrationDb, { onBusy, onWait }).finally(() => migrationDb.destroy());
await syncPlanLimits(db, config);
await syncWebhookSwitch(db, config.webhooks.enabled);

const readiness = { stopping: false };
const clock = await followClock(sessionsDb);
const storage = await createStorage(config, { now: clock.now, timeoutMs: storageTimeoutMs });
if (storage instanceof LocalStorage)
  await checkStoreOwner(db, storage).catch((err: unknown) => {
    if (!(err instanceof WrongStore)) throw err;
    log.fatal({ err }, 'the API does not start: this is not the store of its database');
    process.exit(1);
  });
const ai = metrics.observeAi(createAiClient({ baseUrl: config.ai.url, token: config.ai.token, attemptMs: config.jobs.timeoutMs }));
const temporal = createTemporalClient(config.temporal);
const outbox = createOutbox({ db, workerDb, client: temporal, log, settings: config.jobs });
const cursors = createCursors(deriveKey(config.authSecret, 'cursor'));
const jobStreams = new JobStreams({
  readChanges: createChangeReader(db),
  now: clock.now,
  cursors,
  log,
  leases: createLeases(sessionsDb, config.streams),
  findMembership: (caller, place) => findStreamMembership(sessionsDb, caller, place),
  limits: config.streams,
});
const listener = listen({
  url: directUrl,
  channel: 'job_changed',
  onNotification: (payload) => jobStreams.notify(payload),
  onListening: () => jobStreams.wakeAll(),
  onError: (error) => log.warn({ err: error }, 'notifications were lost; the connection is made again'),
});
const payments = createPayments({ config, db, log });
const findCaller = createFindSession(sessionsDb, config);
const mails = createMailQueue({ db, log, enabled: config.email.provider !== 'none' });

const deps: ApiDeps = {
  config,
  log,
  skippedEvents: metrics.skippedEvents,
  db,
  sessionsDb,
  organizationLimits: new OrganizationLimits({
    requestsPerSecond: config.limits.requestsPerSecond,
    // One organization may use half of the connections, so that the other half is always left for the others.
    atOnce: Math.max(1, Math.floor((pools.requests.options.max ?? 1) / 2)),
  }),
  readiness,
  storage: traceStorage(storage),
  ai,
  cursors,
  jobStreams,
  cancelSubscription: createCancelSubscription(db, payments),
  sendMail: mails.send,
  mailbox: openMailbox(config),
  authentication: { findCaller, findKey: (hash) => findKey(sessionsDb, hash) },
  getPlan: (trx, organizationId) => getPlan(trx, config, organizationId),
  limiters: createLimiters({ ...config.limits, pool: config.limits.store === 'postgres' ? pools.sessions : undefined }),
  largeBodies: new LargeBodies(),
  costsCredit: createEmbeddingPrice(ai),
  awaitDeletion: (organizationId, timeoutMs) => awaitResult(db, temporal, workflowIds.deleteOrganization(organizationId), timeoutMs),
};
const auth = createAuth({ config, db, pool: pools.requests, log, payments, writeMails: mails.write });
const app = createApp(deps, {
  auth: mountAuth({ auth, config, findSession: findCaller, log, clientAddress: (_req, res) => clientAddressOf(res) }),
  localStorage: storage instanceof LocalStorage ? storage : undefined,
  observeRequest: metrics.observeRequest,
});

outbox.start();
const tidying = storage instanceof LocalStorage ? tidyUploads(storage) : undefined;
const workers = config.worker.enabled
  ? startWorker(config, temporal, {
      ...{ db: workerDb ?? db, outbox, tracing, storage: traceStorage(await createStorage(config)), ai, log, steps: metrics.steps },
    })
  : undefined;
if (config.metrics.port > 0) {
  watchStreams(registry, () => jobStreams.count());
  const refresh = watchBacklog(registry, {
    kinds: jobKinds,
    read: async () => ({
      queues: await measureQueues(sessionsDb),
      ...(await measureWaiting(sessionsDb)),
      locks: await measureLockWaits(sessionsDb),
    }),
  });
  await serveMetrics(config.metrics, { registry, refresh, readOthers: readSdkMetrics });
}
const server = createApiServer(app);
// Node's bound applies to every request, and an upload takes longer. `boundBodies` bounds all others.
server.requestTimeout = 0;
server.listen(config.port, config.host, () => log.info({ port: config.port }, 'API listening'));

let stopping = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal));

/** Removes unfinished uploads of killed processes, now and every minute. */
function tidyUploads(local: LocalStorage): NodeJS.Timeout {
  const tidy = () => void local.removeAbandoned().catch((err: unknown) => log.warn({ err }, 'left-overs of uploads could not be removed'));
  tidy();
  return setInterval(tidy, 60_000).unref();
}

/**
 * Stops in order: the process reports that it is not ready, and serves requests until load balancers have noticed. Then it ends new
 * requests, streams, the workers within their grace period, and last the connections.
 */
async function stop(signal: string): Promise<void> {
  if (stopping) return;
  stopping = true;
  readiness.stopping = true;
  log.info({ signal }, 'stopping');
  const workersStopped = workers?.stop();
  await delay(config.shutdownDelayMs);
  const closed = new Promise((resolve) => server.close(resolve));
  jobStreams.close();
  server.closeIdleConnections();
  const patience = setTimeout(() => server.closeAllConnections(), 5_000);
  await Promise.all([closed, workersStopped]);
  clearTimeout(patience);
  clearInterval(tidying);
  await outbox.stop();
  await listener.stop();
  await temporal.connection.close();
  clock.stop();
  await pools.end();
  await tracing?.stop();
  log.info('stopped');
  process.exit(0);
}
