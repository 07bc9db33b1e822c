import pg from 'pg';
import { DatabaseUnavailable, toUnavailable } from './unavailable.ts';
import type { Watch } from './watch.ts';

/** A pool that opens no connection while its {@link Watch} says that the server is gone. Its own errors are DatabaseUnavailable. */
export class WatchedPool extends pg.Pool {
  readonly #watch: Watch;
  readonly #ownsWatch: boolean;

  constructor(config: pg.PoolConfig, watch: Watch, { ownsWatch }: { ownsWatch: boolean }) {
    super(config);
    this.#watch = watch;
    this.#ownsWatch = ownsWatch;
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg's own signature has two overloads, which this passes through.
  override connect(...callback: any[]): any {
    const [done] = callback;
    const { lost } = this.#watch;
    if (lost) {
      const error = new DatabaseUnavailable('the database does not respond', { cause: lost });
      return typeof done === 'function' ? void process.nextTick(done, error, undefined, () => {}) : Promise.reject(error);
    }
    if (typeof done !== 'function') return super.connect().catch(fail);
    return super.connect((error, client, release) => done(error && toUnavailable(error), client, release));
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above.
  override async end(...callback: any[]): Promise<void> {
    if (this.#ownsWatch) this.#watch.close();
    await super.end(...(callback as []));
  }
}

function fail(error: unknown): never {
  throw toUnavailable(error);
}
