import { type ControlledTransaction, Kysely, type Transaction as KyselyTransaction, PostgresDialect } from 'kysely';
import pg from 'pg';
import { PreparingClient } from './preparing-client.ts';
import type { Database } from './schema.ts';

/** The connections that a process holds open. */
export type Pool = pg.Pool;
/** The database, or a transaction of it: what a read takes. */
export type Db = Kysely<Database>;
/** A transaction: what a write that must be atomic with others takes. */
export type Transaction = KyselyTransaction<Database> | ControlledTransaction<Database>;

/** No transaction outlives this; replays of a stream overlap by it (rule 10). */
export const longestTransactionMs = 30_000;

// Counts and byte sums are int8 and stay far below 2^53; a `date` is a calendar day and has no time zone to shift it by.
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === pg.types.builtins.INT8) return Number;
    if (oid === pg.types.builtins.DATE) return String;
    return pg.types.getTypeParser(oid, format);
  },
} as pg.CustomTypesConfig;

/** Opens a pool of at most `poolSize` connections. The caller ends it. */
export function createPool(options: { url: string; poolSize: number; name?: string; onError?: (error: Error) => void }): pg.Pool {
  const pool = new pg.Pool({
    Client: PreparingClient,
    connectionString: options.url,
    max: options.poolSize,
    types,
    application_name: options.name ?? 'sheaf',
    connectionTimeoutMillis: 10_000,
    idle_in_transaction_session_timeout: longestTransactionMs,
    keepAlive: true,
  });
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
