import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** The paths that a child may read: its own code and the packages. */
const readable = ['ai/*', 'base/concurrency/*', 'base/text/*', 'node_modules/*', 'package.json'].map((path) => `${root}${path}`);
/** Users without a name, as systemd gives them to services: each child is another one, so that none may look into or end another. */
const childUsers = { first: 61_184, count: 4_000 };
/** Owns no file. All children are it where a container knows no other users. */
const nobody = 65_534;
const probeTimeoutMs = 10_000;
/** Of setpriv, if it is not an old one. */
const endWithParent = '--pdeathsig=KILL';
/** The memory that V8 and its threads reserve without using it. */
const reservedBytes = 2 * 1024 ** 3;
/** A child has a dozen threads and three dozen files open. The number of threads counts by user. */
const limits = { threads: 64, files: 256 };

/** How the children of this process are kept from everything but their task. */
interface Isolation {
  /** The program and the arguments that come before Node's own, for a child with so much resident memory at most. */
  command(memoryBytes: number): string[];
  /** A description of the restrictions that this machine cannot apply to a child. */
  missing: string[];
}

let found: Isolation | undefined;

/** Tries once what this machine allows: limits, a network namespace, and other users, or a user namespace if this process is not root. */
export function findIsolation(): Isolation {
  found ??= tryAll();
  return found;
}

/**
 * The arguments of Node itself for a child that runs `entry`: no file but the code and those that it may `also` read, no programs, no
 * add-ons and no threads unless they are needed. `node:sqlite` would pass the permission model.
 */
export function permissionArguments(
  entry: URL,
  { addons = false, programs = false, threads = false, also = [] as string[] } = {},
): string[] {
  return [
    '--permission',
    '--no-experimental-sqlite',
    ...(addons ? ['--allow-addons'] : []),
    ...(programs ? ['--allow-child-process'] : []),
    ...(threads ? ['--allow-worker'] : []),
    ...(addons || programs || threads ? ['--disable-warning=SecurityWarning'] : []),
    ...[...readable, ...also, fileURLToPath(new URL('*', entry))].map((path) => `--allow-fs-read=${path}`),
  ];
}

/** The words before a program that a child starts: it ends with the child, and has so much memory at most. What the child is kept from, so is it. */
export function programLimits(memoryBytes: number): string[] {
  const [prlimit, setpriv] = ['prlimit', 'setpriv'].map(programOf);
  const ends = setpriv ? [setpriv, endWithParent] : [];
  const bounds = prlimit ? [prlimit, `--data=${memoryBytes}`] : [];
  return [ends, bounds].filter((words) => words.length > 0 && works([...words, process.execPath, '--version'])).flat();
}

function tryAll(): Isolation {
  const isRoot = process.getuid?.() === 0;
  const [prlimit, unshare, setpriv] = ['prlimit', 'unshare', 'setpriv'].map(programOf);
  const network = cutOff(unshare, isRoot);
  const users = isRoot ? [nextUser, () => nobody] : [() => undefined];
  const rights = [[endWithParent], []].flatMap((more) => users.map((userOf) => () => dropRights(setpriv, userOf(), more)));
  const canRead = readsItsCode();
  const drop = rights.find((way) => setpriv && works([...network, ...way(), ...canRead]));
  const limitsOf = (memoryBytes: number) => limit(prlimit, memoryBytes, drop !== undefined && isRoot);
  const isLimited = prlimit !== undefined && works([...limitsOf(0), ...network, ...(drop?.() ?? []), ...canRead]);
  return {
    command: (memoryBytes) => [...(isLimited ? limitsOf(memoryBytes) : []), ...network, ...(drop?.() ?? [])],
    missing: [
      ...(network.length > 0 ? [] : ['the network, except by its own code']),
      ...(network.length > 0 || isRoot ? [] : ['the memory of the service, except by its own code']),
      ...(isRoot && !drop ? ['the rights of root, except by its own code'] : []),
      ...(drop?.().includes(`--reuid=${nobody}`) ? ['other readers, except by its own code'] : []),
      ...(drop?.().includes(endWithParent) ? [] : ['work that goes on after the service was killed']),
      ...(isLimited ? [] : ['more threads and files than it needs']),
    ],
  };
}

/**
 * A network namespace of its own. Who is not root needs a user namespace for it, which also keeps a child from the memory of the service and
 * of other children, although they have the same user. No user is mapped into it: so it can make no further namespaces.
 */
function cutOff(unshare: string | undefined, isRoot: boolean): string[] {
  if (!unshare) return [];
  const way = [unshare, ...(isRoot ? [] : ['--user']), '--net'];
  return works([...way, process.execPath, '--version']) ? way : [];
}

/** Another user for each child, from a random one on: two services on a machine rarely have the same. */
let users = Math.floor(Math.random() * childUsers.count);
function nextUser(): number {
  users += 1;
  return childUsers.first + (users % childUsers.count);
}

function dropRights(setpriv: string | undefined, user: number | undefined, more: string[]): string[] {
  if (!setpriv) return [];
  const become = [`--reuid=${user}`, `--regid=${user}`, '--clear-groups', '--inh-caps=-all', '--bounding-set=-all'];
  return [setpriv, '--no-new-privs', ...(user === undefined ? [] : become), ...more];
}

/** The kernel's own limits: no file can be written, and the memory that a child takes between two checks is bounded. */
function limit(prlimit: string | undefined, memoryBytes: number, hasOwnUser: boolean): string[] {
  if (!prlimit) return [];
  const threads = hasOwnUser ? [`--nproc=${limits.threads}`] : [];
  return [prlimit, '--core=0', '--fsize=0', `--nofile=${limits.files}`, `--data=${memoryBytes + reservedBytes}`, ...threads];
}

/** Node as a child is started, which reads its code. */
function readsItsCode(): string[] {
  const script = `require('node:fs').readFileSync(${JSON.stringify(fileURLToPath(import.meta.url))})`;
  return [process.execPath, ...permissionArguments(new URL(import.meta.url)), '--eval', script];
}

function works([program = '', ...rest]: string[]): boolean {
  return spawnSync(program, rest, { env: {}, stdio: 'ignore', timeout: probeTimeoutMs }).status === 0;
}

/** The file of a program of the system. Not by PATH, which a child does not get. */
function programOf(name: string): string | undefined {
  if (process.platform !== 'linux') return undefined;
  return ['/usr/bin', '/bin', '/usr/sbin', '/sbin'].map((directory) => `${directory}/${name}`).find(isExecutable);
}

/** Whether a file is a program that this process may run. */
export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
