import { type DatabaseConnection, type Driver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import type { Transaction } from './connect.ts';
import { writeIntents } from './outbox.ts';
import type { OutboxMessage } from './outbox-message.ts';
import type { Database } from './schema.ts';

/**
 * Runs work in a transaction that the caller has begun on a connection, and will commit or roll back. Returns the intents that the work
 * added to the outbox, which the caller dispatches after the commit.
 */
export function joinTransaction(connection: DatabaseConnection, work: (trx: Transaction) => Promise<void>): Promise<OutboxMessage[]> {
  const db = new Kysely<Database>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => borrowing(connection),
      createIntrospector: (of) => new PostgresIntrospector(of),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  return db.transaction().execute(async (begun) => {
    const trx = Object.assign(begun, { intents: [] });
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
