import { AsyncLocalStorage } from 'node:async_hooks';
import { type ControlledTransaction, Kysely, type Transaction as KyselyTransaction, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { BoundedClient } from './bounded-client.ts';
import { boundsOf, keepAlive, type WorkClass } from './bounds.ts';
import { lendBytes } from './lent-bytes.ts';
import type { Database } from './schema.ts';
import { Watch } from './watch.ts';
import { WatchedPool } from './watched-pool.ts';

/** The connections that a process holds open. */
export type Pool = pg.Pool;
/** The database or a transaction: the parameter of a read. */
export type Db = Kysely<Database>;
/** A transaction: the parameter of a write that must be atomic with others. */
export type Transaction = KyselyTransaction<Database> | ControlledTransaction<Database>;

// Counts and byte sums are int8, and far below 2^53. A `date` is a calendar day: as a Date it would be shifted by the time zone. No column
// is a `bpchar`: a statement casts to it what it reads as bytes.
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === pg.types.builtins.INT8) return Number;
    if (oid === pg.types.builtins.DATE) return String;
    if (oid === pg.types.builtins.BPCHAR) return lendBytes;
    return pg.types.getTypeParser(oid, format);
  },
} as pg.CustomTypesConfig;

export interface PoolOptions {
  url: string;
  poolSize: number;
  name?: string;
  /** Decides the bounds; `request` by default. */
  work?: WorkClass;
  /** How long a transaction or a statement may take, in milliseconds, instead of the bound of its class; 0 is no limit. */
  transactionMs?: number;
  /** Whether the URL leads to a pooler in transaction mode. */
  pooled?: boolean;
  /** Watches the pools of a process together. By default a pool has a watch of its own. */
  watch?: Watch;
  onError?: (error: Error) => void;
}

/** Opens a pool of at most `poolSize` connections. The caller ends it. */
export function createPool(options: PoolOptions): pg.Pool {
  const { url, poolSize, name = 'sheaf', work = 'request', transactionMs, pooled = false } = options;
  const bounds = { ...boundsOf[work], ...(transactionMs === undefined ? {} : { transactionMs }) };
  const watch = options.watch ?? new Watch({ url, pooled });
  const client = { connectionString: url, types, application_name: name, bounds, pooled, watch, ...keepAlive };
  const pool = new WatchedPool(
    { ...client, Client: BoundedClient as never, max: poolSize, connectionTimeoutMillis: bounds.queueMs },
    watch,
    { ownsWatch: !options.watch },
  );
  // A connection that the server closes emits an error, which without a listener would end the process. The pool listens only to
  // idle connections; the query of one in use fails as well.
  pool.on('connect', (client) => client.on('error', () => {}));
  // Bound to here: a connection is not of the request or the job for which it was opened.
  pool.on(
    'error',
    AsyncLocalStorage.bind((error) => options.onError?.(error)),
  );
  return pool;
}

/** The query builder over a pool; destroying it ends the pool. */
export function createDb(pool: pg.Pool): Db {
  return new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
}

/** Throws if the database is unreachable. */
export async function ping(db: Db): Promise<void> {
  await sql`select 1`.execute(db);
}
