import { type ControlledTransaction, Kysely, type Transaction as KyselyTransaction, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { BoundedClient, type BoundedClientConfig, longestTransactionMs } from './bounded-client.ts';
import type { Database } from './schema.ts';

/** The connections that a process holds open. */
export type Pool = pg.Pool;
/** The database or a transaction: the parameter of a read. */
export type Db = Kysely<Database>;
/** A transaction: the parameter of a write that must be atomic with others. */
export type Transaction = KyselyTransaction<Database> | ControlledTransaction<Database>;

// Counts and byte sums are int8, and far below 2^53. A `date` is a calendar day: as a Date it would be shifted by the time zone.
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === pg.types.builtins.INT8) return Number;
    if (oid === pg.types.builtins.DATE) return String;
    return pg.types.getTypeParser(oid, format);
  },
} as pg.CustomTypesConfig;

export interface PoolOptions {
  url: string;
  poolSize: number;
  name?: string;
  /** How long a transaction or a statement may take, in milliseconds; 0 is no limit, for maintenance that writes no jobs. */
  transactionMs?: number;
  onError?: (error: Error) => void;
}

/** Opens a pool of at most `poolSize` connections. The caller ends it. */
export function createPool(options: PoolOptions): pg.Pool {
  const connection: BoundedClientConfig = {
    connectionString: options.url,
    types,
    application_name: options.name ?? 'sheaf',
    connectionTimeoutMillis: 10_000,
    idle_in_transaction_session_timeout: longestTransactionMs,
    keepAlive: true,
    transactionMs: options.transactionMs ?? longestTransactionMs,
  };
  const pool = new pg.Pool({ ...connection, Client: BoundedClient as never, max: options.poolSize });
  // A connection that the server closes emits an error, which without a listener would end the process. The pool listens only to
  // idle connections; the query of one in use fails as well.
  pool.on('connect', (client) => client.on('error', () => {}));
  pool.on('error', (error) => options.onError?.(error));
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
