import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { clearStalePid } from './postgres-pid.ts';
import { choosePlace, type PostgresPlace } from './postgres-place.ts';
import { clusterDir, database, databaseUrl, passwordFile, superuser } from './postgres-url.ts';
import { ProcessError, type ProcessSpec, type RunningProcess, type Supervisor } from './supervise.ts';

const majorVersion = '18';

export interface PostgresOptions {
  dataDir: string;
  port: number;
  logFile: string;
  /** False trades safety in a crash of the machine for speed; for tests. */
  durable: boolean;
  /** Called when something takes longer than usual. */
  note?: (message: string) => void;
}

/**
 * Starts the embedded Postgres on 127.0.0.1, making its cluster the first time, and waits until it accepts connections and the
 * database exists. A cluster whose server was killed recovers by itself. Throws ProcessError when it cannot start.
 */
export async function startPostgres(supervisor: Supervisor, options: PostgresOptions): Promise<{ running: RunningProcess; url: string }> {
  const place = choosePlace(options.dataDir);
  await prepareCluster(supervisor, place, options);
  const url = databaseUrl(readFileSync(passwordFile(place.home), 'utf8').trim(), options.port);
  const running = await startServer(supervisor, serverSpec(place, options), url);
  return { running, url };
}

async function prepareCluster(supervisor: Supervisor, place: PostgresPlace, options: PostgresOptions): Promise<void> {
  const cluster = clusterDir(place.home);
  if (existsSync(cluster)) {
    const version = readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim();
    if (version !== majorVersion)
      throw new Error(
        `${cluster} was made by Postgres ${version}, this is Postgres ${majorVersion}. Move it away, or choose another DATA_DIR.`,
      );
    await clearStalePid(cluster);
    return;
  }
  options.note?.('making the database files');
  const unfinished = `${cluster}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  writePassword(place);
  await supervisor.complete({
    name: 'initdb',
    command: join(place.bin, 'initdb'),
    args: [
      `--pgdata=${unfinished}`,
      `--username=${superuser}`,
      `--pwfile=${passwordFile(place.home)}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // The provider inside Postgres needs no locale of the machine: the order of texts is the same everywhere.
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--locale=C',
      '--no-instructions',
      ...(options.durable ? [] : ['--no-sync', '--no-data-checksums']),
    ],
    ...common(place, options),
  });
  // Only a finished cluster gets the name, so that an interrupted first start is made again.
  renameSync(unfinished, cluster);
}

function serverSpec(place: PostgresPlace, options: PostgresOptions): ProcessSpec {
  const settings: Record<string, string | number> = {
    listen_addresses: '127.0.0.1',
    port: options.port,
    unix_socket_directories: '',
    max_connections: 200,
    shared_buffers: '128MB',
    max_wal_size: '1GB',
    jit: 'off',
    log_checkpoints: 'off',
    log_line_prefix: '%m [%p] ',
    // Neither statements nor the values in an error's details belong in a log.
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    ...(options.durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  };
  return {
    name: 'Postgres',
    command: join(place.bin, 'postgres'),
    args: ['-D', clusterDir(place.home), ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    // SIGTERM would wait for every client to leave.
    stopSignal: 'SIGINT',
    ...common(place, options),
  };
}

function common(place: PostgresPlace, options: PostgresOptions) {
  return { env: { LC_ALL: 'C', TZ: 'UTC' }, cwd: place.home, logFile: options.logFile, ...(place.user ? { user: place.user } : {}) };
}

async function startServer(supervisor: Supervisor, spec: ProcessSpec, url: string): Promise<RunningProcess> {
  const deadline = performance.now() + 15_000;
  for (;;) {
    const running = supervisor.run(spec);
    try {
      await supervisor.waitUntilReady(running, () => acceptsConnections(url), 60_000);
      return running;
    } catch (error) {
      await running.stop();
      // The processes of a server that was killed need a moment to notice it and let its memory go.
      const leftover = error instanceof ProcessError && /pre-existing shared memory block/.test(running.readLog());
      if (!leftover || performance.now() > deadline) throw error;
      await delay(200);
    }
  }
}

/** Connects, and makes the database when there is none yet. */
async function acceptsConnections(url: string): Promise<boolean> {
  const server = new URL(url);
  server.pathname = '/postgres';
  const client = new pg.Client({ connectionString: server.href, connectionTimeoutMillis: 2000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const existing = await client.query('select 1 from pg_database where datname = $1', [database]);
    if (existing.rowCount === 0) await client.query(`create database ${client.escapeIdentifier(database)}`);
    return true;
  } catch (error) {
    const code = (error as { code?: string }).code;
    // Refused or cut off, shutting down, or still starting (57P03); anything else is a fault that waiting does not mend.
    if (code === undefined || code === 'ECONNREFUSED' || code === 'ECONNRESET' || code.startsWith('57P')) return false;
    throw error;
  } finally {
    await client.end().catch(() => undefined);
  }
}

function writePassword(place: PostgresPlace): void {
  const file = passwordFile(place.home);
  writeFileSync(file, `${randomBytes(24).toString('hex')}\n`, { mode: 0o600 });
  if (place.user) chownSync(file, place.user.uid, place.user.gid);
}
