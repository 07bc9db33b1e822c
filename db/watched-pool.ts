import pg from 'pg';
import { FairSemaphore } from '../concurrency/fair-semaphore.ts';
import { shareKey } from './fair-share.ts';
import { DatabaseUnavailable, toUnavailable } from './unavailable.ts';
import type { Watch } from './watch.ts';

type Done = (error: Error | undefined, client: pg.PoolClient | undefined, release: (error?: Error | boolean) => void) => void;

/**
 * A pool that opens no connection while its {@link Watch} says that the server is gone, and whose callers take turns by whom they work for
 * (`inShareOf`) if there are more than connections. Its own errors are DatabaseUnavailable.
 */
export class WatchedPool extends pg.Pool {
  readonly #watch: Watch;
  readonly #ownsWatch: boolean;
  readonly #connections: FairSemaphore;
  readonly #queueMs: number;

  constructor(
    config: pg.PoolConfig & { max: number; connectionTimeoutMillis: number },
    watch: Watch,
    { ownsWatch }: { ownsWatch: boolean },
  ) {
    super(config);
    this.#watch = watch;
    this.#ownsWatch = ownsWatch;
    this.#connections = new FairSemaphore(config.max);
    this.#queueMs = config.connectionTimeoutMillis;
    // Those who wait here are not known to pg's pool. Its types have a property where it has a getter.
    Object.defineProperty(this, 'waitingCount', { get: () => this.#connections.waiting });
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg's own signature has two overloads, which this passes through.
  override connect(...callback: any[]): any {
    const [done] = callback as [Done | undefined];
    if (typeof done !== 'function') return this.#connect();
    this.#connect().then(
      (client) => done(undefined, client, client.release),
      (error) => done(error, undefined, () => {}),
    );
  }

  async #connect(): Promise<pg.PoolClient> {
    this.#throwIfLost();
    const release = await this.#connections.acquireWithin(shareKey(), this.#queueMs);
    if (!release) throw new DatabaseUnavailable(`no connection was free for ${this.#queueMs} ms`);
    try {
      this.#throwIfLost();
      const client = await super.connect();
      const giveBack = client.release;
      client.release = (error) => {
        giveBack(error);
        release();
      };
      return client;
    } catch (error) {
      release();
      throw toUnavailable(error);
    }
  }

  #throwIfLost(): void {
    const { lost } = this.#watch;
    if (lost) throw new DatabaseUnavailable('the database does not respond', { cause: lost });
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above.
  override async end(...callback: any[]): Promise<void> {
    if (this.#ownsWatch) this.#watch.close();
    await super.end(...(callback as []));
  }
}
