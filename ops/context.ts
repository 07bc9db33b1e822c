import { type Client, NamespaceNotFoundError } from '@temporalio/client';
import { sql } from 'kysely';
import { createStorage } from '../adapters/storage/create-storage.ts';
import type { Storage } from '../adapters/storage/port.ts';
import { createTemporalClient } from '../adapters/temporal/connect.ts';
import { grpcErrorOf, isUnreachable } from '../adapters/temporal/unreachable.ts';
import type { OpsConfig } from '../base/config/ops.ts';
import { createDb, createPool, type Db } from '../db/connect.ts';
import type { LonePostgres } from './local/lone-postgres.ts';
import { findEmbeddedPostgres, findPostgresPrograms, hasEmbeddedPostgres } from './local/postgres-directory.ts';

// A loaded server accepts a start late, and an operator would wait rather than repeat the command.
const temporalDeadlineMs = 15_000;
/** NOT_FOUND, PERMISSION_DENIED and UNAUTHENTICATED of gRPC. */
const refusals = new Set([5, 7, 16]);

/** Where a command writes. */
export interface Output {
  /** Writes a line to standard output. */
  print(line: string): void;
  /** Writes a line to standard error: progress, or an error. */
  note(line: string): void;
}

/** The tools of a command besides a database. Nothing connects before it is used. */
export interface OpsTools extends Output {
  config: OpsConfig;
  /** The stored documents. It signs no links. */
  storage: Storage;
  temporal: Client;
}

/** The tools of a command on a database. Nothing connects before it is used. */
export interface OpsContext extends OpsTools {
  /** The address of the database, with its password. */
  databaseUrl: string;
  db: Db;
}

/** Thrown if a command fails for a known reason; the message is for the operator. */
export class OpsError extends Error {}

/** Runs `work` with its tools, and closes their connections afterwards. */
export async function withTools(config: OpsConfig, output: Output, work: (tools: OpsTools) => Promise<void>): Promise<void> {
  const temporal = createTemporalClient(config.temporal);
  try {
    await work({ config, storage: await openStorage(config), temporal, ...output });
  } finally {
    await temporal.connection.close();
  }
}

/** Runs `work` on the database of the deployment, which must run. Throws OpsError if there is none. */
export async function withDatabase<T>(tools: OpsTools, work: (context: OpsContext) => Promise<T>): Promise<T> {
  const url = tools.config.databaseUrl ?? findEmbeddedPostgres(tools.config.dataDir);
  if (url === undefined) throw noDatabase(tools.config);
  return await connect(tools, url, work);
}

/**
 * As {@link withDatabase}, also while `npm start` does not run: then the embedded Postgres runs alone for as long as `work` takes. A data
 * directory without one gets an empty one if `makesDatabase`. Throws OpsError if there is no database, or it cannot be started.
 */
export async function withDatabaseAtRest<T>(
  tools: OpsTools,
  { makesDatabase }: { makesDatabase: boolean },
  work: (context: OpsContext) => Promise<T>,
): Promise<T> {
  const { config, note } = tools;
  if (config.databaseUrl !== undefined || (await isHeld(config.dataDir))) return await withDatabase(tools, work);
  if (!makesDatabase && !hasEmbeddedPostgres(config.dataDir)) throw noDatabase(config);
  note(`Nothing runs in ${config.dataDir}: its Postgres is started for this command.`);
  const postgres = await startAlone(config.dataDir, note);
  try {
    return await connect(tools, postgres.url, work);
  } finally {
    await postgres.stop();
  }
}

/**
 * Runs `work` on an empty database beside that of `context`, which is dropped afterwards. Throws OpsError if one of its name is there, or
 * the role may not make it.
 */
export async function withNewDatabase<T>(context: OpsContext, work: (context: OpsContext) => Promise<T>): Promise<T> {
  const url = new URL(context.databaseUrl);
  const name = `${decodeURIComponent(url.pathname.slice(1))}_rehearsal`;
  url.pathname = `/${encodeURIComponent(name)}`;
  await sql`create database ${sql.id(name)}`.execute(context.db).catch((error: Error) => {
    const reason = `The database ${name} cannot be made beside the service's: ${error.message}.`;
    throw new OpsError(`${reason} If it was left by a rehearsal that was killed, drop it.`, { cause: error });
  });
  try {
    // As the service's own: no other role of the server may enter it.
    await sql`revoke connect on database ${sql.id(name)} from public`.execute(context.db);
    return await connect(context, url.href, work);
  } finally {
    await sql`drop database ${sql.id(name)} with (force)`.execute(context.db);
  }
}

async function connect<T>(tools: OpsTools, url: string, work: (context: OpsContext) => Promise<T>): Promise<T> {
  const db = createDb(createPool({ url, poolSize: 2, name: 'sheaf ops', work: 'maintenance' }));
  try {
    return await work({ ...tools, databaseUrl: url, db });
  } finally {
    await db.destroy();
  }
}

// Only loaded where they are needed: the other commands, and a deployment with a DATABASE_URL, do without an embedded Postgres.
async function isHeld(dataDir: string): Promise<boolean> {
  const { findHolder } = await import('./local/data-directory.ts');
  try {
    return findHolder(dataDir) !== undefined;
  } catch (error) {
    throw new OpsError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

async function startAlone(dataDir: string, note: (line: string) => void): Promise<LonePostgres> {
  try {
    findPostgresPrograms();
    const { startLonePostgres } = await import('./local/lone-postgres.ts');
    return await startLonePostgres(dataDir, note);
  } catch (error) {
    throw new OpsError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function noDatabase({ dataDir }: OpsConfig): OpsError {
  return new OpsError(`No database: nothing runs in ${dataDir}. Start it with \`npm start\`, or set DATABASE_URL.`);
}

/** Makes a call to Temporal within 15 s. Throws OpsError if Temporal cannot be reached, or refuses this client altogether. */
export async function callTemporal<T>({ temporal, config }: OpsContext, call: () => Promise<T>): Promise<T> {
  try {
    return await temporal.withDeadline(Date.now() + temporalDeadlineMs, call);
  } catch (error) {
    if (isUnreachable(error)) throw new OpsError(`Temporal cannot be reached at ${config.temporal.address}. Does it run?`);
    const refusal = findRefusal(error);
    if (refusal !== undefined) throw new OpsError(`Temporal at ${config.temporal.address} refuses: ${refusal}`);
    throw error;
  }
}

/** Why Temporal refuses every call: the namespace does not exist, or the key or certificate is wrong. */
function findRefusal(error: unknown): string | undefined {
  if (error instanceof NamespaceNotFoundError) return `${error.message}.`;
  const grpc = grpcErrorOf(error);
  return grpc && refusals.has(grpc.code) ? grpc.details : undefined;
}

/** The store of the deployment, to copy from and to. The links that it signs are not valid. */
function openStorage({ store, dataDir }: OpsConfig): Promise<Storage> {
  return createStorage({ storage: { ...store, maxUploadBytes: 0 }, dataDir, apiUrl: 'http://localhost', authSecret: 'signs no links' });
}
