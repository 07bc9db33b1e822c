import type { OpsConfig } from '../config/ops.ts';
import { createDb, createPool } from '../db/connect.ts';
import { findEmbeddedPostgres } from '../local/postgres-directory.ts';
import { createTemporalClient } from '../temporal/connect.ts';
import { type OpsContext, OpsError } from './command.ts';

/** Runs work with a context, and lets go of what it has connected. Throws OpsError where there is no database to work on. */
export async function withContext(config: OpsConfig, work: (context: OpsContext) => Promise<void>): Promise<void> {
  const url = config.databaseUrl ?? findEmbeddedPostgres(config.dataDir);
  if (url === undefined) {
    throw new OpsError(`No database: nothing runs in ${config.dataDir}. Start it with \`npm start\`, or set DATABASE_URL.`);
  }
  const db = createDb(createPool({ url, poolSize: 2, name: 'sheaf ops', transactionMs: 0 }));
  const temporal = createTemporalClient(config.temporal);
  try {
    await work({ config, db, temporal, print: (line) => process.stdout.write(`${line}\n`) });
  } finally {
    await temporal.connection.close();
    await db.destroy();
  }
}
