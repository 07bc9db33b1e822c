import { CompiledQuery, PostgresDriver, type PostgresPool, type PostgresPoolClient, type TransactionSettings } from 'kysely';
import type pg from 'pg';
import { traceStatement } from './trace-statement.ts';
import { DatabaseUnavailable, isOfConnection, toUnavailable } from './unavailable.ts';

/** A connection of a PostgresDriver. Only this signature of it names the type. */
export type Connection = Parameters<PostgresDriver['rollbackTransaction']>[0];

/**
 * Kysely's driver over a pool of `createPool`. An error of a connection itself becomes DatabaseUnavailable, and ends the connection. Behind
 * a pooler each transaction first sets its bounds.
 */
export class BoundedDriver extends PostgresDriver {
  readonly #localBounds: string | undefined;

  constructor(pool: pg.Pool & { options: { localBounds?: string } }) {
    super({ pool: lending(pool) });
    this.#localBounds = pool.options.localBounds;
  }

  override async beginTransaction(connection: Connection, settings: TransactionSettings): Promise<void> {
    await super.beginTransaction(connection, settings);
    if (this.#localBounds !== undefined) await connection.executeQuery(CompiledQuery.raw(this.#localBounds));
  }
}

/** The pool in the form in which Kysely borrows connections. */
function lending(pool: pg.Pool): PostgresPool {
  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      try {
        return lend(await pool.connect());
      } catch (error) {
        throw toUnavailable(error);
      }
    },
  };
}

/**
 * A connection for one borrower. Once it has failed itself, because its server is silent or has closed it, nothing more is sent: later
 * statements of the transaction fail with the same error, and the connection is closed when it is returned.
 */
function lend(client: pg.PoolClient): PostgresPoolClient {
  let broken: Error | undefined;
  const note = (error: unknown): unknown => {
    const failure = toUnavailable(error);
    if (failure instanceof DatabaseUnavailable || isOfConnection(failure)) broken ??= failure;
    return failure;
  };
  client.on('error', note);
  const query = async (text: string, values: unknown[]) => {
    if (broken) throw broken;
    const span = traceStatement(text);
    try {
      const result = await client.query(text, values);
      span?.end();
      return result;
    } catch (error) {
      span?.fail(error);
      throw note(error);
    }
  };
  const release = (destroy?: boolean) => {
    client.off('error', note);
    client.release(broken ?? destroy);
  };
  return { query, release } as unknown as PostgresPoolClient;
}
