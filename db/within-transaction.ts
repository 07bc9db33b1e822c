import {
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type Transaction,
} from 'kysely';
import type { Database } from './schema.ts';

/** Runs work in the transaction that a connection is in, which whoever began it commits or rolls back. */
export function withinTransaction<T>(connection: DatabaseConnection, work: (trx: Transaction<Database>) => Promise<T>): Promise<T> {
  const db = new Kysely<Database>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => borrowing(connection),
      createIntrospector: (of) => new PostgresIntrospector(of),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  return db.transaction().execute(work);
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
