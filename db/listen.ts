import pg from 'pg';
import { pause } from '../concurrency/pause.ts';

/** A connection that hears notifications on one channel, and comes back by itself when it is lost. */
export interface Listener {
  /** Resolves once the first connection listens. */
  ready: Promise<void>;
  stop(): Promise<void>;
}

export interface ListenOptions {
  url: string;
  channel: string;
  onNotification(payload: string): void;
  /** It listens again after a loss: notifications sent meanwhile are gone, so whatever they told must be read anew. */
  onReconnect(): void;
  onError(error: Error): void;
}

const firstDelayMs = 50;
const longestDelayMs = 5_000;
const heartbeatMs = 15_000;

/** Listens on a channel with a connection of its own. A heartbeat finds a connection that died without a word. */
export function listen(options: ListenOptions): Listener {
  const stopping = new AbortController();
  let current: pg.Client | undefined;

  const ready = Promise.withResolvers<void>();
  const loop = (async () => {
    for (let connections = 0, delayMs = firstDelayMs; !stopping.signal.aborted; ) {
      try {
        await connectOnce(() => {
          connections++;
          delayMs = firstDelayMs;
          if (connections > 1) options.onReconnect();
          ready.resolve();
        });
      } catch (error) {
        if (!stopping.signal.aborted) options.onError(error as Error);
      }
      if (stopping.signal.aborted) break;
      await pause(delayMs, stopping.signal);
      delayMs = Math.min(delayMs * 2, longestDelayMs);
    }
  })();

  /** Connects, listens, and returns or throws when the connection is lost. */
  async function connectOnce(onListening: () => void): Promise<void> {
    const client = new pg.Client({
      connectionString: options.url,
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
      application_name: 'sheaf listen',
    });
    current = client;
    const lost = new Promise<never>((_, reject) => {
      client.on('error', reject);
      client.on('end', () => reject(new Error('the listening connection ended')));
    });
    lost.catch(() => {});
    let heartbeat: NodeJS.Timeout | undefined;
    try {
      await client.connect();
      client.on('notification', ({ payload }) => payload !== undefined && options.onNotification(payload));
      await client.query(`listen ${client.escapeIdentifier(options.channel)}`);
      heartbeat = setInterval(() => void probe(client), heartbeatMs);
      onListening();
      await lost;
    } finally {
      clearInterval(heartbeat);
      current = undefined;
      await client.end().catch(() => {});
    }
  }

  async function probe(client: pg.Client): Promise<void> {
    const timeout = setTimeout(
      () => (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy(),
      5_000,
    );
    await client.query('select 1').catch(() => {});
    clearTimeout(timeout);
  }

  return {
    ready: ready.promise,
    async stop() {
      stopping.abort();
      await current?.end().catch(() => {});
      await loop;
    },
  };
}
