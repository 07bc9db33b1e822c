import type { Registry } from 'prom-client';
import type { Db, Pool } from '../db/connect.ts';
import { observePool } from '../db/observe-pool.ts';
import { watchPools } from './gauges.ts';
import type { ServerMetrics } from './server-metrics.ts';

/** Measures pools, by the class of their work, and counts the facts that are committed through `dbs`. */
export function watchDatabase(
  registry: Registry,
  metrics: ServerMetrics,
  { pools, dbs }: { pools: Record<string, Pool>; dbs: Db[] },
): void {
  watchPools(registry, pools);
  for (const [name, pool] of Object.entries(pools)) observePool(pool, (took) => metrics.observePoolWait(name, took));
  for (const db of dbs) db.observe = metrics.observeFact;
}
