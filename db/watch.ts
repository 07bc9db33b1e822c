import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';
import type { BoundedClient } from './bounded-client.ts';
import { keepAlive } from './bounds.ts';

/** How long the server may say nothing before it is asked on the side whether it is there. */
const suspectMs = 1_000;
/** How long it may take to say so. */
const askMs = 1_250;
const sweepMs = 250;
/** How long the database is left alone before it is asked whether it is back. */
const probeMs = 500;
const turnMs = 50;

export interface WatchOptions {
  url: string;
  /** Whether a pooler hides which process of the server works for a connection. */
  pooled: boolean;
  /** Called when the server is lost, with the reason, and without one when it is back. */
  onChange?: ((lost?: Error) => void) | undefined;
}

/**
 * Tells a slow server from one that is gone without a word, for the connections of one process. If a query hears nothing for a second, the
 * server is asked over a connection on the side. If it does not respond there, every connection is broken off, and no other is
 * opened until it responds again: a query fails within three seconds and nothing piles up, while a slow query goes on. If it
 * responds, but does not work on the query, that connection alone is dead.
 */
export class Watch {
  readonly #options: WatchOptions;
  readonly #clients = new Set<BoundedClient>();
  /** Whose process was idle when it was asked about last. */
  #idle = new Set<BoundedClient>();
  #side: pg.Client | undefined;
  #sweeper: NodeJS.Timeout | undefined;
  #asking = false;
  #lost: Error | undefined;
  #closed = false;

  constructor(options: WatchOptions) {
    // Bound to here: what it tells is not of the request or the job whose connection is watched.
    const onChange = options.onChange && AsyncLocalStorage.bind(options.onChange);
    this.#options = { ...options, onChange };
  }

  /** Why nothing can be sent to the server; undefined while it responds. */
  get lost(): Error | undefined {
    return this.#lost;
  }

  /** Opens the connection on the side now, so that it need not be opened when the server is slow. Never rejects. */
  async open(): Promise<void> {
    await this.#connect().catch(() => {});
  }

  add(client: BoundedClient): void {
    this.#clients.add(client);
    this.#sweeper ??= setInterval(() => void this.#sweep(), sweepMs).unref();
  }

  remove(client: BoundedClient): void {
    this.#clients.delete(client);
    if (this.#clients.size > 0) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#sweeper);
    this.#dropSide();
  }

  async #sweep(): Promise<void> {
    const silent: BoundedClient[] = [];
    for (const client of this.#clients) {
      const silentMs = client.silentMs();
      if (silentMs > client.answerMs) client.breakOff('the database did not respond in time');
      else if (silentMs > suspectMs) silent.push(client);
    }
    if (silent.length > 0) await this.#ask(silent);
    else this.#idle.clear();
  }

  async #ask(silent: BoundedClient[]): Promise<void> {
    if (this.#asking || this.#lost || this.#closed) return;
    this.#asking = true;
    const heard = new Map([...this.#clients].map((client) => [client, client.bytesRead]));
    try {
      const working = await withinTurns(askMs, this.#findWorking(silent.map(({ backendPid }) => backendPid)));
      if (!this.#options.pooled) this.#breakOffDead(silent, working);
    } catch (error) {
      this.#dropSide();
      // Whatever comes from the server shows that it is there.
      const responds = error instanceof pg.DatabaseError || [...heard].some(([client, bytes]) => client.bytesRead > bytes);
      if (!responds && !this.#closed) this.#lose(error as Error);
    } finally {
      this.#asking = false;
    }
  }

  /** The processes that work, or of which the server does not tell. */
  async #findWorking(pids: number[]): Promise<Set<number>> {
    const side = this.#side ?? (await this.#connect());
    const { rows } = await side.query<{ pid: number }>(
      `select pid from pg_stat_activity where pid = any($1::int[]) and coalesce(state, '') not like 'idle%'`,
      [pids],
    );
    return new Set(rows.map(({ pid }) => pid));
  }

  /** A query that has just ended looks the same, so only the second time counts. */
  #breakOffDead(silent: BoundedClient[], working: Set<number>): void {
    const isIdle = ({ backendPid }: BoundedClient) => backendPid > 0 && !working.has(backendPid);
    const idle = silent.filter((client) => isIdle(client) && client.silentMs() > suspectMs);
    for (const client of idle) if (this.#idle.has(client)) client.breakOff('the connection to the database was lost');
    this.#idle = new Set(idle);
  }

  #lose(reason: Error): void {
    this.#lost = reason;
    this.#options.onChange?.(reason);
    for (const client of this.#clients) client.breakOff('the database does not respond');
    void this.#probe();
  }

  async #probe(): Promise<void> {
    while (!this.#closed) {
      await new Promise((resolve) => setTimeout(resolve, probeMs).unref());
      try {
        await withinTurns(askMs, this.#findWorking([]));
        break;
      } catch (error) {
        this.#dropSide();
        if (error instanceof pg.DatabaseError) break;
      }
    }
    this.#lost = undefined;
    if (!this.#closed) this.#options.onChange?.();
  }

  async #connect(): Promise<pg.Client> {
    const { url } = this.#options;
    const side = new pg.Client({
      connectionString: url,
      application_name: 'sheaf watch',
      ...keepAlive,
    });
    this.#side = side;
    side.on('error', () => this.#forget(side));
    side.on('end', () => this.#forget(side));
    await side.connect();
    // It must not keep a process alive that has nothing else to do.
    streamOf(side).unref();
    return side;
  }

  #forget(side: pg.Client): void {
    if (this.#side === side) this.#side = undefined;
  }

  #dropSide(): void {
    const side = this.#side;
    this.#side = undefined;
    if (side) streamOf(side).destroy();
  }
}

function streamOf(client: pg.Client) {
  return (client as unknown as { connection: { stream: { destroy(): void; unref(): void } } }).connection.stream;
}

/**
 * Rejects if the work takes longer than `ms`; the work goes on, and its failure is ignored. Not by the clock as `within` of concurrency/:
 * the time is counted in turns of the event loop, each of which reads what has arrived, so a process that was busy itself does not take the
 * server for gone.
 */
async function withinTurns<T>(ms: number, work: Promise<T>): Promise<T> {
  work.catch(() => {});
  const late = Promise.withResolvers<never>();
  let turns = Math.ceil(ms / turnMs);
  const timer = setInterval(() => {
    if (--turns <= 0) late.reject(new Error('the database does not respond'));
  }, turnMs);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearInterval(timer);
  }
}
