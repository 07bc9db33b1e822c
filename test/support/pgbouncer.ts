import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePorts } from '../../ops/local/ports.ts';
import { acceptsConnection } from '../../ops/local/temporal.ts';
import { makeTestDirectory, removeTestDirectory } from './directories.ts';
import { findInstalled } from './installed.ts';
import { runProgram, until } from './processes.ts';

export interface Pgbouncer {
  /** Host and port. */
  address: string;
  log(): string;
  stop(): Promise<void>;
}

/** Without privileges, since pgbouncer refuses to run as root. */
const nobody = 65_534;

/** The program; undefined if it is not installed: `apt-get install pgbouncer` brings it. */
export function findPgbouncer(): string | undefined {
  return findInstalled('pgbouncer');
}

/**
 * Starts pgbouncer before a Postgres, for all of its databases, in transaction mode. It has so few connections to each database that two
 * transactions of one client hardly ever get the same one.
 */
export async function startPgbouncer(program: string, postgresUrl: string): Promise<Pgbouncer> {
  const directory = makeTestDirectory();
  const [port = 0] = await findFreePorts(1);
  const asNobody = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
  const file = join(directory, 'pgbouncer.ini');
  writeFileSync(file, configuration(new URL(postgresUrl), port));
  if (asNobody.uid !== undefined) for (const each of [directory, file]) chownSync(each, nobody, nobody);
  const running = runProgram(program, [file], asNobody);
  let ended = false;
  void running.exited.then(() => (ended = true));
  const stop = async () => {
    running.child.kill('SIGKILL');
    await running.exited;
    removeTestDirectory(directory);
  };
  try {
    await until(async () => ended || (await acceptsConnection(port)));
    if (ended) throw new Error('it has ended');
  } catch (error) {
    await stop();
    throw new Error(`pgbouncer does not run: ${running.stdout()}${running.stderr()}`, { cause: error });
  }
  return { address: `127.0.0.1:${port}`, log: () => `${running.stdout()}${running.stderr()}`, stop };
}

function configuration({ hostname, port: postgresPort, username, password }: URL, port: number): string {
  return [
    '[databases]',
    `* = host=${hostname} port=${postgresPort} user=${username} password=${decodeURIComponent(password)}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    // One organization uses up to 8 of an API's connections at once.
    'default_pool_size = 16',
    'max_client_conn = 1000',
    'server_idle_timeout = 5',
  ].join('\n');
}
