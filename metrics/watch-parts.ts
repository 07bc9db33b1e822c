import type { Registry } from 'prom-client';
import type { Db, Pool } from '../db/connect.ts';
import { setObserver } from '../db/facts.ts';
import { observePool } from '../db/observe-pool.ts';
import { watchBreaker, watchPool } from './gauges.ts';
import type { ServerMetrics } from './server-metrics.ts';

/** Measures a pool, and counts what is committed through `db`. */
export function watchDatabase(registry: Registry, metrics: ServerMetrics, { pool, db }: { pool: Pool; db: Db }): void {
  watchPool(registry, pool);
  observePool(pool, metrics.observePoolWait);
  setObserver(db, metrics.observeFact);
}

/** What the workers of this process tell. */
export function observeWorker(registry: Registry, { stepSucceeded }: ServerMetrics) {
  return { stepSucceeded, watchBreaker: (readState: Parameters<typeof watchBreaker>[1]) => watchBreaker(registry, readState) };
}
