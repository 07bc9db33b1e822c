import type { Registry } from 'prom-client';
import { watchPools } from '../../base/telemetry/gauges.ts';
import type { Db, Pool } from '../../db/connect.ts';
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

type Connect = (callback?: (...args: unknown[]) => void) => Promise<unknown> | undefined;

/** Reports to `observe` how long each caller waited for a connection of the pool, in seconds, also if it got none. */
function observePool(pool: Pool, observe: (seconds: number) => void): void {
  const connect = pool.connect.bind(pool) as unknown as Connect;
  const observed: Connect = (callback) => {
    const startedAt = performance.now();
    const done = () => observe((performance.now() - startedAt) / 1_000);
    if (!callback) return (connect() as Promise<unknown>).finally(done);
    return connect((...args) => {
      done();
      callback(...args);
    });
  };
  pool.connect = observed as unknown as Pool['connect'];
}
