import pg from 'pg';
import type { BoundedClient } from './bounded-client.ts';
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
    this.on('connect', (client) => watch.add(client as unknown as BoundedClient));
    this.on('remove', (client) => watch.remove(client as unknown as BoundedClient));
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg's own signature has two overloads, which this passes through.
  override connect(...callback: any[]): any {
    const [done] = callback;
    const { lost } = this.#watch;
    if (lost) {
      const error = new DatabaseUnavailable('the database does not respond', { cause: lost });
      return typeof done === 'function' ? void process.nextTick(done, error, undefined, () => {}) : Promise.reject(error);
    }
    if (typeof done !== 'function') return super.connect().catch((error: unknown) => this.#fail(error));
    const failed = (error: unknown) => toUnavailable(this.#note(error));
    return super.connect((error, client, release) => done(error && failed(error), client, release));
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above.
  override async end(...callback: any[]): Promise<void> {
    if (this.#ownsWatch) this.#watch.close();
    await super.end(...(callback as []));
  }

  #fail(error: unknown): never {
    throw toUnavailable(this.#note(error));
  }

  /** A new connection that nobody responds to says as much as a query that hangs. */
  #note(error: unknown): unknown {
    if (error instanceof Error && /connection timeout|timeout expired/.test(error.message)) this.#watch.suspect();
    return error;
  }
}
