import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** What a child may read: its own code and the packages. */
const readable = ['ai/*', 'concurrency/*', 'node_modules/*', 'package.json'].map((path) => `${root}${path}`);
/** `nobody`: owns no file, and may not look into the processes of others. */
const nobody = 65_534;
const probeTimeoutMs = 10_000;
/** Of setpriv, if it is not an old one. */
const endWithParent = '--pdeathsig=KILL';

/** How the children of this process are kept from everything but their task. */
export interface Isolation {
  /** The program and the arguments that come before Node's own. */
  command: string[];
  /** In words, what a child of this machine is not kept from. */
  missing: string[];
}

let found: Isolation | undefined;

/** Tries once what this machine allows: a network namespace, and another user if this process is root. */
export function findIsolation(): Isolation {
  found ??= tryAll();
  return found;
}

/**
 * The arguments of Node itself for a child that runs `entry`: no file but the code and those that it may `also` read, no processes, no
 * add-ons unless they are needed.
 */
export function permissionArguments(entry: URL, { addons = false, also = [] as string[] } = {}): string[] {
  return [
    '--permission',
    '--allow-worker',
    ...(addons ? ['--allow-addons', '--disable-warning=SecurityWarning'] : []),
    ...[...readable, ...also, fileURLToPath(new URL('*', entry))].map((path) => `--allow-fs-read=${path}`),
  ];
}

function tryAll(): Isolation {
  const isRoot = process.getuid?.() === 0;
  const setpriv = programOf('setpriv');
  const unshare = programOf('unshare');
  const drop = setpriv && [
    setpriv,
    '--no-new-privs',
    ...(isRoot ? [`--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', '--inh-caps=-all', '--bounding-set=-all'] : []),
  ];
  const dropAndEnd = drop && [...drop, endWithParent];
  const cutOff = unshare && (isRoot ? [unshare, '--net'] : [unshare, '--user', '--map-current-user', '--net']);
  const ways = [
    ...[dropAndEnd, drop].map((dropped) => cutOff && dropped && [...cutOff, ...dropped]),
    ...[cutOff && !isRoot && cutOff, dropAndEnd, drop, cutOff],
  ];
  const command = ways.find((way) => way && works(way)) || [];
  return {
    command,
    missing: [
      ...(cutOff && command.includes(cutOff[0] ?? '') ? [] : ['the network, except by its own code']),
      ...(isRoot && !command.includes(`--reuid=${nobody}`) ? ['the rights of root, except by its own code'] : []),
    ],
  };
}

/** Whether a child that is started so runs and can read its code. */
function works(way: string[]): boolean {
  const [program = '', ...rest] = way;
  const script = `require('node:fs').readFileSync(${JSON.stringify(fileURLToPath(import.meta.url))})`;
  const tried = spawnSync(program, [...rest, process.execPath, ...permissionArguments(new URL(import.meta.url)), '--eval', script], {
    env: {},
    stdio: 'ignore',
    timeout: probeTimeoutMs,
  });
  return tried.status === 0;
}

/** The file of a program of the system. Not by PATH, which a child does not get. */
function programOf(name: string): string | undefined {
  if (process.platform !== 'linux') return undefined;
  return ['/usr/bin', '/bin', '/usr/sbin', '/sbin'].map((directory) => `${directory}/${name}`).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
