import { AsyncLocalStorage } from 'node:async_hooks';
import { type ControlledTransaction, Kysely, type Transaction as KyselyTransaction, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import type { Intent } from '../contract/intents/definitions.ts';
import { boundsOf, keepAlive, responseMs, settingsOf, type WorkBounds, type WorkClass } from './bounds.ts';
import { BoundedDriver } from './driver.ts';
import type { Fact, Observe } from './facts.ts';
import type { Dispatch } from './outbox-message.ts';
import type { Database } from './schema.ts';

/**
 * The connections that a process holds open. `localBounds` is the statement that sets a transaction's bounds, if connections have none
 * themselves.
 */
export type Pool = pg.Pool & { options: { localBounds?: string | undefined } };
/** The database or a transaction: the parameter of a read. */
export interface Db extends Kysely<Database> {
  /** Dispatches the intents of its committed transactions. Without it they wait for a relay. */
  dispatch?: Dispatch | undefined;
  /** Gets the facts of its committed transactions. */
  observe?: Observe | undefined;
}
/** A transaction: the parameter of a write that must be atomic with others. */
export type Transaction = (KyselyTransaction<Database> | ControlledTransaction<Database>) & {
  /** The intents and facts that are passed on after its commit. Only transactions of `inTransaction` collect them. */
  intents?: Intent[];
  facts?: Fact[];
};

// Counts and byte sums are int8, far below 2^53. A `date` is a calendar day, which a Date would shift by the time zone.
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === pg.types.builtins.INT8) return Number;
    if (oid === pg.types.builtins.DATE) return String;
    return pg.types.getTypeParser(oid, format);
  },
} as pg.CustomTypesConfig;

interface PoolOptions {
  url: string;
  poolSize: number;
  name?: string;
  /** The class of work, which decides the bounds; `request` by default. */
  work?: WorkClass;
  /** Bounds that replace those of the class. */
  bounds?: Partial<WorkBounds>;
  /** Whether the URL leads to a pooler in transaction mode, whose connections keep no settings: then each transaction sets its bounds. */
  pooled?: boolean;
  onError?: (error: Error) => void;
}

/** Opens a pool of at most `poolSize` connections, which Postgres bounds by the class of their work. The caller ends it. */
export function createPool({ url, poolSize, name = 'sheaf', work = 'request', bounds: own, pooled = false, onError }: PoolOptions): Pool {
  const bounds = { ...boundsOf[work], ...own };
  const settings = Object.entries(settingsOf(bounds));
  const options = {
    connectionString: pooled ? url : withSettings(url, settings),
    localBounds: pooled ? settings.map(([setting, ms]) => `set local ${setting} = ${ms}`).join('; ') : undefined,
    application_name: name,
    max: poolSize,
    connectionTimeoutMillis: bounds.connectMs,
    query_timeout: responseMs(bounds),
    types,
    ...keepAlive,
  };
  const pool = new pg.Pool(options);
  // A connection that the server closes emits an error, which without a listener would end the process. The pool listens only to
  // idle connections; the query of one in use fails as well.
  pool.on('connect', (client) => client.on('error', () => {}));
  // Bound to this async context: a connection does not belong to the request or job for which it was opened.
  pool.on(
    'error',
    AsyncLocalStorage.bind((error) => onError?.(error)),
  );
  return pool;
}

/** The URL with additional settings of the session. */
function withSettings(url: string, settings: [string, number][]): string {
  const [address = '', query] = url.split('?');
  const params = new URLSearchParams(query);
  params.set('options', [params.get('options') ?? '', ...settings.map(([setting, ms]) => `-c ${setting}=${ms}`)].join(' ').trim());
  // Postgres's own clients do not decode a plus sign.
  return `${address}?${String(params).replaceAll('+', '%20')}`;
}

/** The query builder over a pool; destroying it ends the pool. */
export function createDb(pool: pg.Pool): Db {
  return new PooledDb(pool);
}

class PooledDb extends Kysely<Database> {
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    const dialect = new PostgresDialect({ pool });
    dialect.createDriver = () => new BoundedDriver(pool);
    super({ dialect });
    this.#pool = pool;
  }

  /** Before the first use Kysely's own does nothing, and a step that a stop overtook would still open a connection. */
  override async destroy(): Promise<void> {
    if (!this.#pool.ending) await this.#pool.end();
  }
}

/** Throws if the database is unreachable. */
export async function ping(db: Db): Promise<void> {
  await sql`select 1`.execute(db);
}
