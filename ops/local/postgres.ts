import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import {
  chooseDirectory,
  clusterDir,
  database,
  databaseUrl,
  type PostgresDirectory,
  passwordFile,
  postmasterFile,
  superuser,
} from './postgres-directory.ts';
import { commandOf, ProcessError, type ProcessSpec, type RunningProcess, type Supervisor } from './supervise.ts';

const majorVersion = '18';

interface PostgresOptions {
  dataDir: string;
  port: number;
  logFile: string;
  /** False, for tests: faster, but data may be lost if the machine crashes. */
  durable: boolean;
  /** Called when something takes longer than usual. */
  note?: (message: string) => void;
}

/**
 * Starts the embedded Postgres on 127.0.0.1, makes its cluster the first time, and waits until it accepts connections and the database
 * exists. A cluster whose server was killed recovers. Throws ProcessError if Postgres cannot start.
 */
export async function startPostgres(supervisor: Supervisor, options: PostgresOptions): Promise<{ running: RunningProcess; url: string }> {
  const directory = chooseDirectory(options.dataDir);
  await prepareCluster(supervisor, directory, options);
  const url = databaseUrl(readFileSync(passwordFile(directory.home), 'utf8').trim(), options.port);
  const running = await startServer(supervisor, serverSpec(directory, options), url);
  return { running, url };
}

async function prepareCluster(supervisor: Supervisor, directory: PostgresDirectory, options: PostgresOptions): Promise<void> {
  const cluster = clusterDir(directory.home);
  if (existsSync(cluster)) {
    const version = readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim();
    if (version !== majorVersion)
      throw new Error(
        `${cluster} was made by Postgres ${version}, this is Postgres ${majorVersion}. Move it away, or choose another DATA_DIR.`,
      );
    await makeWay(supervisor, directory, options);
    return;
  }
  options.note?.('making the database files');
  const unfinished = `${cluster}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  writePassword(directory);
  await supervisor.complete({
    name: 'initdb',
    command: join(directory.bin, 'initdb'),
    args: [
      `--pgdata=${unfinished}`,
      `--username=${superuser}`,
      `--pwfile=${passwordFile(directory.home)}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // Postgres's own locale provider sorts texts in the same order on every machine.
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--locale=C',
      '--no-instructions',
      ...(options.durable ? [] : ['--no-sync', '--no-data-checksums']),
    ],
    ...common(directory, options),
  });
  // Only a finished cluster gets the name, so that the next start repeats an interrupted initdb.
  renameSync(unfinished, cluster);
}

function serverSpec(directory: PostgresDirectory, options: PostgresOptions): ProcessSpec {
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
    command: join(directory.bin, 'postgres'),
    args: ['-D', clusterDir(directory.home), ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    // SIGTERM would wait for every client to leave.
    stopSignal: 'SIGINT',
    ...common(directory, options),
  };
}

function common(directory: PostgresDirectory, options: PostgresOptions) {
  return {
    env: { LC_ALL: 'C', TZ: 'UTC' },
    cwd: directory.home,
    logFile: options.logFile,
    ...(directory.user ? { user: directory.user } : {}),
  };
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
      // The processes of a killed server need a moment to notice it and release its memory.
      const leftover = error instanceof ProcessError && /pre-existing shared memory block/.test(running.readLog());
      if (!leftover || performance.now() > deadline) throw error;
      await delay(200);
    }
  }
}

/** Connects, and creates the database if it does not exist. */
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
    // Refused or cut off, shutting down, or still starting (57P03). Waiting does not mend any other fault.
    if (code === undefined || code === 'ECONNREFUSED' || code === 'ECONNRESET' || code.startsWith('57P')) return false;
    throw error;
  } finally {
    await client.end().catch(() => undefined);
  }
}

function writePassword(directory: PostgresDirectory): void {
  const file = passwordFile(directory.home);
  writeFileSync(file, `${randomBytes(24).toString('hex')}\n`, { mode: 0o600 });
  if (directory.user) chownSync(file, directory.user.uid, directory.user.gid);
}

// Higher than any process id that a kernel gives out.
const nobodysPid = 99_999_999;

/**
 * Makes way for a new server on this cluster: ends a server that was left running, and replaces a stale process id in the lock file, which
 * may belong to another program by now: Postgres would take that program for a server. The rest of the lock file stays, since Postgres
 * checks with it that no process of the old server still writes.
 */
async function makeWay(supervisor: Supervisor, directory: PostgresDirectory, options: PostgresOptions): Promise<void> {
  const file = postmasterFile(directory.home);
  if (!existsSync(file)) return;
  const [first = '', ...rest] = readFileSync(file, 'utf8').split('\n');
  const pid = Number.parseInt(first, 10);
  if (!(pid > 0)) return;
  const cluster = clusterDir(directory.home);
  if (!commandOf(pid)?.includes(cluster)) writeFileSync(file, [String(nobodysPid), ...rest].join('\n'));
  else {
    const args = ['stop', '--silent', '--mode=fast', '--timeout=15', `--pgdata=${cluster}`];
    await supervisor.complete({ name: 'pg_ctl stop', command: join(directory.bin, 'pg_ctl'), args, ...common(directory, options) });
  }
}
