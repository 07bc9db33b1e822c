import { createServer } from 'node:http';
import { pino } from 'pino';
import { createAiClient } from '../ai/client.ts';
import { createAuth } from '../auth/auth.ts';
import { mountAuth } from '../auth/mount.ts';
import { createFindSession } from '../auth/session.ts';
import { deriveKey } from '../config/keys.ts';
import { loadServerConfig } from '../config/server.ts';
import { createDb, createPool } from '../db/connect.ts';
import { listen } from '../db/listen.ts';
import { migrate } from '../db/migrate.ts';
import { getPlan } from '../domain/billing/get-plan.ts';
import { syncPlanLimits } from '../domain/billing/sync-plan-limits.ts';
import { createCursors } from '../domain/page.ts';
import { createEmbeddingPrice } from '../domain/search/embedding-price.ts';
import { createCancelSubscription } from '../payments/cancel-subscription.ts';
import { createPayments } from '../payments/payments.ts';
import { createStorage } from '../storage/create-storage.ts';
import { LocalStorage } from '../storage/local.ts';
import { awaitResult } from '../temporal/await-result.ts';
import { createTemporalClient } from '../temporal/connect.ts';
import { createOutbox } from '../temporal/outbox.ts';
import { installRuntime } from '../temporal/runtime.ts';
import { startWorker } from '../worker/start-worker.ts';
import { workflowIds } from '../workflows/definitions.ts';
import { createApp } from './app.ts';
import { findStreamMembership } from './caller.ts';
import type { ApiDeps } from './deps.ts';
import { answerClientErrors } from './http/errors.ts';
import { LargeAnswers } from './http/large-answers.ts';
import { createLimiters } from './http/limiters.ts';
import { clientAddressOf } from './http/request.ts';
import { createMailQueue } from './mail-queue.ts';
import { createJobStreams } from './streams/job-streams.ts';
import { createMemoryLeases, createSharedLeases } from './streams/leases.ts';
import { deferContinueOfUploads } from './uploads/before-body.ts';

const config = loadServerConfig(process.env);
const log = pino({ level: config.logLevel, base: { part: 'api' } });
installRuntime({ log, metricsPort: config.metricsPort });

const pool = createPool({
  url: config.database.url,
  poolSize: config.database.poolSize,
  name: 'sheaf api',
  onError: (error) => log.warn({ err: error }, 'an idle database connection was lost'),
});
const db = createDb(pool);
// A migration may take as long as it needs.
const migrationDb = createDb(createPool({ url: config.database.url, poolSize: 2, name: 'sheaf migrations', transactionMs: 0 }));
const onBusy = (migration: string) => log.warn({ migration }, 'a migration waits for a lock; it is tried again');
await migrate(migrationDb, { onBusy }).finally(() => migrationDb.destroy());
await syncPlanLimits(db, config);

const storage = createStorage(config);
const ai = createAiClient({ baseUrl: config.ai.url, token: config.ai.token });
const temporal = createTemporalClient(config.temporal);
const outbox = createOutbox({ db, client: temporal, log, settings: { jobTimeoutMs: config.jobs.timeoutMs } });
const cursors = createCursors(deriveKey(config.authSecret, 'cursor'));
const jobStreams = createJobStreams({
  db,
  cursors,
  log,
  leases: config.limits.store === 'postgres' ? createSharedLeases(db, config.streams) : createMemoryLeases(),
  findMembership: (caller, organizationId) => findStreamMembership(db, caller, organizationId),
  limits: config.streams,
});
const listener = listen({
  url: config.database.url,
  channel: 'job_changed',
  onNotification: jobStreams.notify,
  onReconnect: jobStreams.replayAll,
  onError: (error) => log.warn({ err: error }, 'notifications were lost; the connection is made again'),
});
const payments = createPayments({ config, db, log });
const findCaller = createFindSession(db, config);
const mails = createMailQueue({ db, log, enabled: config.email.provider !== 'none' });

const deps: ApiDeps = {
  config,
  log,
  db,
  storage,
  ai,
  cursors,
  jobStreams,
  cancelSubscription: createCancelSubscription(db, payments),
  sendMail: mails.send,
  authentication: { findCaller },
  getPlan: (trx, organizationId) => getPlan(trx, config, organizationId),
  limiters: createLimiters({ ...config.limits, pool: config.limits.store === 'postgres' ? pool : undefined }),
  largeAnswers: new LargeAnswers(),
  embeddingPrice: createEmbeddingPrice(ai),
  awaitDeletion: (organizationId, timeoutMs) => awaitResult(temporal, workflowIds.deleteOrganization(organizationId), timeoutMs),
};
const auth = createAuth({ config, db, pool, log, payments, writeMails: mails.write });
const app = createApp(deps, {
  auth: mountAuth({ auth, config, findSession: findCaller, log, clientAddress: (_req, res) => clientAddressOf(res) }),
  localStorage: storage instanceof LocalStorage ? storage : undefined,
});

outbox.start();
const workers = config.worker.enabled ? startWorker(config, temporal, { db, storage, ai, log }) : undefined;
const server = createServer(app);
deferContinueOfUploads(server);
answerClientErrors(server);
// An upload of 25 MiB over a slow line takes longer than the five minutes that Node allows for a request.
server.requestTimeout = 0;
server.listen(config.port, config.host, () => log.info({ port: config.port }, 'API listening'));

let stopping = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal));

/** Stops in order: no new requests, then the streams, the workers within their grace period, and last the connections. */
async function stop(signal: string): Promise<void> {
  if (stopping) return;
  stopping = true;
  log.info({ signal }, 'stopping');
  const closed = new Promise((resolve) => server.close(resolve));
  jobStreams.close();
  server.closeIdleConnections();
  const patience = setTimeout(() => server.closeAllConnections(), 5_000);
  await Promise.all([closed, workers?.stop()]);
  clearTimeout(patience);
  await outbox.stop();
  await listener.stop();
  await temporal.connection.close();
  await db.destroy();
  log.info('stopped');
  process.exit(0);
}
