import {
  type AbortableOperationOptions,
  type CompiledQuery,
  type Driver,
  PostgresDialect,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';
import type pg from 'pg';
import { type Actor, actorQuery } from '../../db/actor.ts';
import type { Db } from '../../db/connect.ts';
import { BoundedDriver, type Connection } from '../../db/driver.ts';
import { joinTransaction } from '../../db/join-transaction.ts';
import { dispatchCommitted } from '../../db/outbox.ts';
import { retryDeadlocks } from '../../db/transaction.ts';
import { currentActor } from './actor.ts';
import { noteFailure } from './failed-query.ts';
import { countMails, dropMailsAfter, takeMails, type WriteMails } from './outgoing-mails.ts';
import { toApiError } from './rule-errors.ts';

const writes = new Set(['InsertQueryNode', 'UpdateQueryNode', 'DeleteQueryNode']);

/**
 * Postgres as better-auth sees it. Every transaction, even for a single write, sets the actor for the audit entries of the triggers. A
 * transaction also stores the mails that were requested in it. An error that a trigger raises is passed on to the client.
 */
export class AuthDialect extends PostgresDialect {
  readonly #pool: pg.Pool;
  readonly #db: Db;
  readonly #writeMails: WriteMails;

  /** The service's own query builder. Its dispatcher also handles the intents of mails. */
  constructor(pool: pg.Pool, db: Db, writeMails: WriteMails) {
    super({ pool });
    this.#pool = pool;
    this.#db = db;
    this.#writeMails = writeMails;
  }

  override createDriver(): Driver {
    return new AuthDriver(this.#pool, this.#db, this.#writeMails);
  }
}

class AuthDriver extends BoundedDriver {
  readonly #wrapped = new WeakSet<Connection>();
  /** For each connection in a transaction: the number of waiting mails when the transaction began, and the first error of a query. */
  readonly #inTransaction = new WeakMap<Connection, { mails: number; failure?: unknown }>();
  readonly #db: Db;
  readonly #writeMails: WriteMails;

  constructor(pool: pg.Pool, db: Db, writeMails: WriteMails) {
    super(pool);
    this.#db = db;
    this.#writeMails = writeMails;
  }

  override async acquireConnection(options?: AbortableOperationOptions): Promise<Connection> {
    const connection = (await super.acquireConnection(options).catch((error: unknown) => {
      throw noteFailure(toApiError(error));
    })) as Connection;
    if (!this.#wrapped.has(connection)) this.#wrap(connection);
    return connection;
  }

  override async beginTransaction(connection: Connection, settings: TransactionSettings): Promise<void> {
    await super.beginTransaction(connection, settings);
    this.#inTransaction.set(connection, { mails: countMails() });
    const actor = currentActor();
    if (actor) await connection.executeQuery(actorQuery(actor));
  }

  override async commitTransaction(connection: Connection): Promise<void> {
    const mails = takeMails();
    const messages = mails.length > 0 ? await joinTransaction(connection, (trx) => this.#writeMails(trx, mails)) : [];
    this.#inTransaction.delete(connection);
    await super.commitTransaction(connection);
    dispatchCommitted(this.#db, messages);
  }

  override async rollbackTransaction(connection: Connection): Promise<void> {
    dropMailsAfter(this.#inTransaction.get(connection)?.mails ?? 0);
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
        throw noteFailure(this.#firstFailure(connection, toApiError(error)));
      }
    };
  }

  /** Once a query has failed, all later ones of its transaction fail, and better-auth may run some before it gives up. */
  #firstFailure(connection: Connection, error: unknown): unknown {
    const transaction = this.#inTransaction.get(connection);
    if (!transaction) return error;
    transaction.failure ??= error;
    return transaction.failure;
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
