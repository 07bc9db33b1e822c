import { type ControlledTransaction, Kysely, type Transaction as KyselyTransaction, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { BoundedClient, type BoundedClientConfig, longestTransactionMs } from './bounded-client.ts';
import type { Database } from './schema.ts';

/** The connections that a process holds open. */
export type Pool = pg.Pool;
/** The database, or a transaction of it: what a read takes. */
export type Db = Kysely<Database>;
/** A transaction: what a write that must be atomic with others takes. */
export type Transaction = KyselyTransaction<Database> | ControlledTransaction<Database>;

// Counts and byte sums are int8 and stay far below 2^53; a `date` is a calendar day and has no time zone to shift it by.
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
  /** How long a transaction or a statement may take, in milliseconds; 0, for maintenance that writes no jobs, does not bound it. */
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
  // A connection that the server closes emits an error; without a listener it would end the process. One that is in use tells
  // its query as well, and the pool has no listener on it then.
  pool.on('connect', (client) => client.on('error', () => {}));
  pool.on('error', (error) => options.onError?.(error));
  return pool;
}

/** The query builder over a pool; destroying it ends the pool. */
export function createDb(pool: pg.Pool): Db {
  return new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
}

/** Resolves when the database answers. Throws when it cannot be reached. */
export async function ping(db: Db): Promise<void> {
  await sql`select 1`.execute(db);
}
