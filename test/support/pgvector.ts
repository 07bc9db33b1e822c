import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { Kysely, PGliteDialect } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { migrate } from '../../db/migrate.ts';

/** A migrated database with pgvector to install: Postgres inside this process, with one connection. Destroy it in `after`. */
export async function createPgvectorDatabase(onQuery?: (sql: string, parameters: readonly unknown[]) => void): Promise<Db> {
  const pglite = await PGlite.create({ extensions: { vector } });
  const db: Db = new Kysely({
    dialect: new PGliteDialect({ pglite }),
    log: (event) => onQuery?.(event.query.sql, event.query.parameters),
  });
  await migrate(db);
  return db;
}
