import type { Pool } from './connect.ts';

type Connect = (callback?: (...args: unknown[]) => void) => Promise<unknown> | undefined;

/** Reports to `observe` how long each caller waited for a connection of the pool, in seconds, also if it got none. */
export function observePool(pool: Pool, observe: (seconds: number) => void): void {
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
