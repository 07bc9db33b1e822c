import pg from 'pg';
import { pause } from '../base/concurrency/pause.ts';
import { keepAlive } from './bounds.ts';

/** A connection of its own that receives the notifications of one channel, and reconnects when it is lost. */
interface Listener {
  /** Resolves once the first connection listens. */
  ready: Promise<void>;
  stop(): Promise<void>;
}

interface ListenOptions {
  url: string;
  channel: string;
  onNotification(payload: string): void;
  /** Called whenever it begins to listen. Earlier notifications are lost (docs/rules.md, notifications may be lost). */
  onListening(): void;
  onError(error: Error): void;
}

const firstDelayMs = 50;
const longestDelayMs = 3_000;
const heartbeatMs = 5_000;
const probeTimeoutMs = 3_000;

export function listen(options: ListenOptions): Listener {
  return new ReconnectingListener(options);
}

class ReconnectingListener implements Listener {
  readonly #options: ListenOptions;
  readonly #stopping = new AbortController();
  readonly #listening = Promise.withResolvers<void>();
  readonly #loop: Promise<void>;
  #client: pg.Client | undefined;
  #delayMs = firstDelayMs;

  constructor(options: ListenOptions) {
    this.#options = options;
    this.#loop = this.#run();
  }

  get ready(): Promise<void> {
    return this.#listening.promise;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    // A dead server would not confirm the end.
    if (this.#client) destroy(this.#client);
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        await this.#connectOnce();
      } catch (error) {
        if (!signal.aborted) this.#options.onError(error as Error);
      }
      if (signal.aborted) break;
      await pause(this.#delayMs, signal);
      this.#delayMs = Math.min(this.#delayMs * 2, longestDelayMs);
    }
  }

  /** Connects, listens, and returns or throws when the connection is lost. */
  async #connectOnce(): Promise<void> {
    const client = createClient(this.#options.url);
    this.#client = client;
    const lost = untilLost(client);
    let heartbeat: NodeJS.Timeout | undefined;
    try {
      await client.connect();
      client.on('notification', ({ payload }) => payload !== undefined && this.#options.onNotification(payload));
      await client.query(`listen ${client.escapeIdentifier(this.#options.channel)}`);
      heartbeat = setInterval(() => void probe(client), heartbeatMs);
      this.#onListening();
      await lost;
    } finally {
      clearInterval(heartbeat);
      this.#client = undefined;
      destroy(client);
    }
  }

  #onListening(): void {
    this.#delayMs = firstDelayMs;
    this.#options.onListening();
    this.#listening.resolve();
  }
}

function createClient(url: string): pg.Client {
  return new pg.Client({ connectionString: url, ...keepAlive, connectionTimeoutMillis: 3_000, application_name: 'sheaf listen' });
}

function untilLost(client: pg.Client): Promise<never> {
  const lost = new Promise<never>((_, reject) => {
    client.on('error', reject);
    client.on('end', () => reject(new Error('the listening connection ended')));
  });
  lost.catch(() => {});
  return lost;
}

/** Detects a connection that died silently, and ends it. */
async function probe(client: pg.Client): Promise<void> {
  const timeout = setTimeout(() => destroy(client), probeTimeoutMs);
  await client.query('select 1').catch(() => {});
  clearTimeout(timeout);
}

function destroy(client: pg.Client): void {
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}
