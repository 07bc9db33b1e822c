import {
  type AbortableOperationOptions,
  type CompiledQuery,
  type Driver,
  PostgresDialect,
  PostgresDriver,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';
import type pg from 'pg';
import { type Actor, actorQuery } from '../db/actor.ts';
import { retryDeadlocks } from '../db/transaction.ts';
import { currentActor } from './actor.ts';
import { toApiError } from './rule-errors.ts';

const writes = new Set(['InsertQueryNode', 'UpdateQueryNode', 'DeleteQueryNode']);

/**
 * Postgres as better-auth sees it: every transaction, also that of a single write, says who acts, so that the triggers' audit
 * entries name the actor in the transaction of the change; and a broken rule arrives as the error that the client gets.
 */
export class AuthDialect extends PostgresDialect {
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    super({ pool });
    this.#pool = pool;
  }

  override createDriver(): Driver {
    return new AuthDriver({ pool: this.#pool });
  }
}

/** What a PostgresDriver hands out and takes back; its own signatures say it in one place only. */
type Connection = Parameters<PostgresDriver['rollbackTransaction']>[0];

class AuthDriver extends PostgresDriver {
  readonly #wrapped = new WeakSet<Connection>();
  readonly #inTransaction = new WeakSet<Connection>();

  override async acquireConnection(options?: AbortableOperationOptions): Promise<Connection> {
    const connection = (await super.acquireConnection(options)) as Connection;
    if (!this.#wrapped.has(connection)) this.#wrap(connection);
    return connection;
  }

  override async beginTransaction(connection: Connection, settings: TransactionSettings): Promise<void> {
    await super.beginTransaction(connection, settings);
    this.#inTransaction.add(connection);
    const actor = currentActor();
    if (actor) await connection.executeQuery(actorQuery(actor));
  }

  override async commitTransaction(connection: Connection): Promise<void> {
    this.#inTransaction.delete(connection);
    await super.commitTransaction(connection);
  }

  override async rollbackTransaction(connection: Connection): Promise<void> {
    this.#inTransaction.delete(connection);
    await super.rollbackTransaction(connection);
  }

  #wrap(connection: Connection): void {
    const execute = connection.executeQuery.bind(connection);
    this.#wrapped.add(connection);
    connection.executeQuery = async <R>(query: CompiledQuery): Promise<QueryResult<R>> => {
      const actor = currentActor();
      try {
        if (!actor || this.#inTransaction.has(connection) || !writes.has(query.query.kind)) return await execute<R>(query);
        return await this.#executeAs(connection, actor, () => execute<R>(query));
      } catch (error) {
        throw toApiError(error);
      }
    };
  }

  async #executeAs<T>(connection: Connection, actor: Actor, write: () => Promise<T>): Promise<T> {
    return retryDeadlocks(async () => {
      await super.beginTransaction(connection, {});
      try {
        await connection.executeQuery(actorQuery(actor));
        const result = await write();
        await super.commitTransaction(connection);
        return result;
      } catch (error) {
        await super.rollbackTransaction(connection);
        throw error;
      }
    });
  }
}
