import type { Client } from '@temporalio/client';
import type { OpsConfig } from '../config/ops.ts';
import { createDb, createPool, type Db } from '../db/connect.ts';
import { findEmbeddedPostgres } from '../local/postgres-directory.ts';
import { createStorage } from '../storage/create-storage.ts';
import type { Storage } from '../storage/port.ts';
import { createTemporalClient } from '../temporal/connect.ts';
import { isUnreachable } from '../temporal/unreachable.ts';

const temporalDeadlineMs = 5_000;

/** Where a command writes. */
export interface Output {
  /** Writes a line to standard output. */
  print(line: string): void;
  /** Writes a line to standard error: progress, or what went wrong. */
  note(line: string): void;
}

/** What a command works with. Nothing connects before it is used. */
export interface OpsContext extends Output {
  config: OpsConfig;
  /** The address of the database, with its password. */
  databaseUrl: string;
  db: Db;
  /** The stored documents. It signs no links. */
  storage: Storage;
  temporal: Client;
}

/** The command cannot do what was asked; the message is for the operator. */
export class OpsError extends Error {}

/** Runs `work` with a context and closes its connections afterwards. Throws OpsError if there is no database to work on. */
export async function withContext(config: OpsConfig, output: Output, work: (context: OpsContext) => Promise<void>): Promise<void> {
  const url = config.databaseUrl ?? findEmbeddedPostgres(config.dataDir);
  if (url === undefined) {
    throw new OpsError(`No database: nothing runs in ${config.dataDir}. Start it with \`npm start\`, or set DATABASE_URL.`);
  }
  const db = createDb(createPool({ url, poolSize: 2, name: 'sheaf ops', work: 'maintenance' }));
  const temporal = createTemporalClient(config.temporal);
  try {
    await work({ config, databaseUrl: url, db, storage: await openStorage(config), temporal, ...output });
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

/** The store of the deployment, to copy from and to: the links that it signs are worth nothing. */
function openStorage({ store, dataDir }: OpsConfig): Promise<Storage> {
  return createStorage({ storage: { ...store, maxUploadBytes: 0 }, dataDir, apiUrl: 'http://localhost', authSecret: 'signs no links' });
}
