import type { EventEmitter } from 'node:events';
import { Gauge, type Registry } from 'prom-client';

/** The part of a pool of connections that is shown. */
interface WatchedPool extends EventEmitter {
  totalCount: number;
  idleCount: number;
  waitingCount: number;
  options: { max: number };
}

/** Shows the connections of the pools, by the class of their work, and how many callers wait for one. */
export function watchPools(registry: Registry, pools: Record<string, WatchedPool>): void {
  const registers = [registry];
  new Gauge({
    name: 'sheaf_database_pool_connections',
    help: 'Connections of the pool by state',
    labelNames: ['pool', 'state'],
    registers,
    collect() {
      for (const [name, pool] of Object.entries(pools)) {
        this.set({ pool: name, state: 'used' }, pool.totalCount - pool.idleCount);
        this.set({ pool: name, state: 'idle' }, pool.idleCount);
      }
    },
  });
  const showEach = (name: string, help: string, read: (pool: WatchedPool) => number) =>
    new Gauge({
      ...{ name, help, labelNames: ['pool'], registers },
      collect() {
        for (const [pool, watched] of Object.entries(pools)) this.set({ pool }, read(watched));
      },
    });
  showEach('sheaf_database_pool_size', 'Most connections that the pool may open', (pool) => pool.options.max);
  showEach('sheaf_database_pool_waiting', 'Callers that wait for a connection', (pool) => pool.waitingCount);
}

/** Shows how many job streams are open. */
export function watchStreams(registry: Registry, count: () => number): void {
  show(registry, 'sheaf_open_streams', 'Job streams that are open in this process', count);
}

/** Shows a number that is read at each scrape. */
export function show(registry: Registry, name: string, help: string, read: () => number): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
}
