import { type Client, isGrpcServiceError } from '@temporalio/client';
import type { OpsConfig } from '../config/ops.ts';
import { createDb, createPool, type Db } from '../db/connect.ts';
import { findEmbeddedPostgres } from '../local/postgres-directory.ts';
import { createTemporalClient } from '../temporal/connect.ts';

const temporalDeadlineMs = 5_000;
/** UNAVAILABLE and DEADLINE_EXCEEDED of gRPC. */
const unreachableCodes = new Set([14, 4]);

/** What a command works with. Nothing connects before it is used. */
export interface OpsContext {
  config: OpsConfig;
  /** The database that `db` leads to, past a pooler. */
  databaseUrl: string;
  db: Db;
  temporal: Client;
  /** Writes a line to standard output. */
  print(line: string): void;
}

/** The command cannot do what was asked; the message is for the operator. */
export class OpsError extends Error {}

/** Runs `work` with a context and closes its connections afterwards. Throws OpsError if there is no database to work on. */
export async function withContext(config: OpsConfig, work: (context: OpsContext) => Promise<void>): Promise<void> {
  const url = config.databaseUrl ?? findEmbeddedPostgres(config.dataDir);
  if (url === undefined) {
    throw new OpsError(`No database: nothing runs in ${config.dataDir}. Start it with \`npm start\`, or set DATABASE_URL.`);
  }
  const db = createDb(createPool({ url, poolSize: 2, name: 'sheaf ops', work: 'maintenance' }));
  const temporal = createTemporalClient(config.temporal);
  try {
    await work({ config, databaseUrl: url, db, temporal, print: (line) => process.stdout.write(`${line}\n`) });
  } finally {
    await temporal.connection.close();
    await db.destroy();
  }
}

/** Makes a call to Temporal within 5 s. Throws OpsError if Temporal cannot be reached. */
export async function callTemporal<T>({ temporal, config }: OpsContext, call: () => Promise<T>): Promise<T> {
  try {
    return await temporal.withDeadline(Date.now() + temporalDeadlineMs, call);
  } catch (error) {
    if (isUnreachable(error)) throw new OpsError(`Temporal cannot be reached at ${config.temporal.address}. Does it run?`);
    throw error;
  }
}

function isUnreachable(error: unknown): boolean {
  const grpc = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return isGrpcServiceError(grpc) && unreachableCodes.has(grpc.code);
}
