import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { ServerMetrics } from '../../adapters/metrics/server-metrics.ts';
import { watchDatabase } from '../../adapters/metrics/watch-parts.ts';
import type { ServerConfig } from '../../base/config/server.ts';
import { createDb, createPool, type Db, ping } from '../../db/connect.ts';
import { migrate } from '../../db/migrate.ts';
import { openPools } from '../../db/pools.ts';
import { isMisconfigured, isUnavailable } from '../../db/unavailable.ts';
import { syncPlanLimits } from '../../domain/billing/sync-plan-limits.ts';
import { syncWebhookSwitch } from '../../domain/webhooks/sync-switch.ts';

const pauseMs = 500;
/** One line in half a minute. */
const triesPerLine = 60;

interface Patience {
  log: Logger;
  waitMs: number;
}

/** The connections of the API, one pool for each class of work. */
export type Databases = Awaited<ReturnType<typeof openDatabases>>;

/** Opens the pools of the API, and brings the database to this version: its migrations, and what the settings say of plans and webhooks. */
export async function openDatabases(
  config: ServerConfig,
  { log, registry, metrics }: { log: Logger; registry: Registry; metrics: ServerMetrics },
) {
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
  const patience = { log, waitMs: config.databaseWaitMs };
  await applyMigrations(config.database.directUrl, patience);
  // Behind a pooler it is another server that may be away.
  await untilReached(db, patience);
  await syncPlanLimits(db, config);
  await syncWebhookSwitch(db, config.webhooks.enabled);
  return { pools, db, sessionsDb, workerDb };
}

async function applyMigrations(url: string, patience: Patience): Promise<void> {
  const db: Db = createDb(createPool({ url, poolSize: 2, name: 'sheaf migrations', work: 'migration' }));
  const { log } = patience;
  const onBusy = (migration: string) => log.warn({ migration }, 'a migration waits for a lock; it is tried again');
  const onWait = (waitedMs: number) => log.warn({ waitedMs }, 'another process applies migrations; this start waits for it');
  await untilReached(db, patience)
    .then(() => migrate(db, { onBusy, onWait }))
    .finally(() => db.destroy());
}

/** Waits while the database is away, as when both start at once. Throws its error after `waitMs`, and at once if waiting does not help. */
async function untilReached(db: Db, { log, waitMs }: Patience): Promise<void> {
  const deadline = performance.now() + waitMs;
  for (let tries = 0; ; tries++) {
    try {
      return await ping(db);
    } catch (err) {
      if (!isUnavailable(err) || isMisconfigured(err) || performance.now() > deadline) throw err;
      if (tries % triesPerLine === 0) log.warn({ err }, 'the database cannot be reached; this start waits for it');
      await sleep(pauseMs);
    }
  }
}
