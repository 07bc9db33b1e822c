import { type DatabaseConnection, type Driver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import type { Transaction } from './connect.ts';
import { collectIntents, type OutboxMessage, writeIntents } from './outbox.ts';
import type { Database } from './schema.ts';

/**
 * Runs work in the transaction that a connection is in, which whoever began it commits or rolls back. Returns the intents that it put
 * into the outbox, to be dispatched after the commit.
 */
export function withinTransaction(connection: DatabaseConnection, work: (trx: Transaction) => Promise<void>): Promise<OutboxMessage[]> {
  const db = new Kysely<Database>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => borrowing(connection),
      createIntrospector: (of) => new PostgresIntrospector(of),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  return db.transaction().execute(async (trx) => {
    collectIntents(trx);
    await work(trx);
    return writeIntents(trx);
  });
}

function borrowing(connection: DatabaseConnection): Driver {
  const leaveAlone = async () => {};
  return {
    init: leaveAlone,
    acquireConnection: async () => connection,
    beginTransaction: leaveAlone,
    commitTransaction: leaveAlone,
    rollbackTransaction: leaveAlone,
    releaseConnection: leaveAlone,
    destroy: leaveAlone,
  };
}
