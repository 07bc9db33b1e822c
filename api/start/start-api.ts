import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { createAiClient } from '../../adapters/ai-service/client.ts';
import { createServerMetrics } from '../../adapters/metrics/server-metrics.ts';
import { createStorage } from '../../adapters/storage/create-storage.ts';
import { traceStorage } from '../../adapters/storage/traced-storage.ts';
import { createTemporalClient } from '../../adapters/temporal/connect.ts';
import { createOutbox } from '../../adapters/temporal/outbox.ts';
import { deriveKeys } from '../../base/config/keys.ts';
import type { ServerConfig } from '../../base/config/server.ts';
import { followClock } from '../../db/clock.ts';
import { createCallRecord } from '../../domain/costs/record-calls.ts';
import { createCursors } from '../../domain/page.ts';
import { createPayments } from '../../domain/payments/payments.ts';
import { followLogLevel } from '../../worker/follow-log-level.ts';
import type { ProcessParts, Running } from '../../worker/start/run-program.ts';
import { startWorker } from '../../worker/start-worker.ts';
import { createApp } from '../app.ts';
import { createAuth } from '../auth/auth.ts';
import { mountAuth } from '../auth/mount.ts';
import { createApiServer } from '../http/create-server.ts';
import { clientAddressOf } from '../http/request.ts';
import { createMailQueue } from '../mail-queue.ts';
import { createDeps } from './create-deps.ts';
import { openDatabases } from './open-databases.ts';
import { openStore } from './open-store.ts';
import { openStreams } from './open-streams.ts';
import { serveApiMetrics } from './serve-api-metrics.ts';

/** How long open responses may take to end once the server is closed. */
const closeMs = 5_000;

/** How long an idle connection stays open: longer than proxies keep theirs, Envoy an hour by default. */
const keepAliveMs = 3_660_000;

/**
 * Starts the API, with the worker inside unless the configuration turns it off, and resolves once it listens. Migrates the database first.
 * Throws WrongStore if the store belongs to another database.
 */
export async function startApi(
  config: ServerConfig,
  { log, tracing, readSdkMetrics }: ProcessParts,
): Promise<Running & { app: ReturnType<typeof createApp> }> {
  warnOfDefaults(config, log);
  const registry = new Registry();
  const metrics = createServerMetrics(registry);
  const databases = await openDatabases(config, { log, registry, metrics });
  const { pools, db, sessionsDb, workerDb } = databases;
  const clock = await followClock(sessionsDb);
  const store = await openStore(config, { db, now: clock.now, log });
  const record = createCallRecord(db, (err) => log.warn({ err }, 'what a provider did could not be stored: it stays unknown'));
  const { url: baseUrl, token } = config.ai;
  const ai = metrics.observeAi(createAiClient({ baseUrl, token, attemptMs: config.jobs.timeoutMs, record }));
  const temporal = createTemporalClient(config.temporal);
  const outbox = createOutbox({ db, workerDb, client: temporal, log, settings: config.jobs, onPoll: followLogLevel(log, db) });
  const cursors = createCursors(...deriveKeys(config, 'cursor'));
  const { jobStreams, listener } = openStreams({ config, db, sessionsDb, now: clock.now, cursors, log });
  const payments = createPayments({ config, db, log });
  const mails = createMailQueue({ db, log, enabled: config.email.provider !== 'none' });
  const storage = traceStorage(store.storage);
  const deps = createDeps({ config, log, metrics, databases, storage, ai, temporal, cursors, jobStreams, payments, mails });
  const { findCaller: findSession } = deps.authentication;
  const auth = createAuth({ config, db, pool: pools.requests, log, payments, writeMails: mails.write });
  const app = createApp(deps, {
    auth: mountAuth({ auth, db, config, findSession, log, clientAddress: (_req, res) => clientAddressOf(res) }),
    localStorage: store.local,
    observeRequest: metrics.observeRequest,
  });
  outbox.start();
  // Without the short time limit that the store of requests has.
  const openWorkerStorage = async () => traceStorage(await createStorage(config));
  const workers = config.worker.enabled
    ? startWorker(config, temporal, {
        ...{ db: workerDb ?? db, outbox, tracing, storage: await openWorkerStorage(), ai, log, steps: metrics.steps },
      })
    : undefined;
  const served = await serveApiMetrics(config, { registry, sessionsDb, countStreams: () => jobStreams.count(), readSdkMetrics });
  const server = await listenAt(config, createApiServer(app));
  log.info({ port: (server.address() as AddressInfo).port }, 'API listening');
  return {
    app,
    /**
     * The process reports that it is not ready, and serves requests until load balancers have noticed. Then it ends new requests, streams, the
     * workers within their grace period, and last the connections.
     */
    async stop() {
      deps.readiness.stopping = true;
      // A proxy keeps connections, and would send its next request over one that is about to be closed.
      server.prependListener('request', (_, res) => {
        res.shouldKeepAlive = false;
      });
      const workersStopped = workers?.stop();
      await delay(config.shutdownDelayMs);
      await Promise.all([closeServer(server, () => jobStreams.close()), workersStopped]);
      store.stopTidying();
      await outbox.stop();
      await listener.stop();
      await temporal.connection.close();
      clock.stop();
      await pools.end();
      await served?.close();
    },
  };
}

function warnOfDefaults(config: ServerConfig, log: Logger): void {
  if (config.production && config.limits.store === 'memory')
    log.warn('LIMITER_STORE is memory: each process of the API counts limits alone, so two of them allow twice as much');
  if (config.email.provider === 'mailbox') log.warn('mails are not sent, but kept: platform admins read them in the console');
}

/** Rejects if the port is taken. */
async function listenAt({ port, host }: ServerConfig, server: Server): Promise<Server> {
  // Node's bound applies to every request, and an upload takes longer. `boundBodies` bounds all others.
  server.requestTimeout = 0;
  server.keepAliveTimeout = keepAliveMs;
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, () => resolve()));
  return server;
}

/** Takes no new connections, ends streams, and waits for open responses, for a few seconds at most. */
async function closeServer(server: Server, endStreams: () => void): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  endStreams();
  // A connection whose response is still under way closes after it.
  server.keepAliveTimeout = 1;
  server.closeIdleConnections();
  const patience = setTimeout(() => server.closeAllConnections(), closeMs);
  await closed;
  clearTimeout(patience);
}
