import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../config/environment.ts';
import { inheritedEnvironment, loadToolConfig } from '../config/local.ts';
import { tryLock } from './data-directory.ts';
import { ProcessError, type ProcessSpec, type Supervisor } from './supervise.ts';

/** The release of the Temporal CLI whose development server the project is tested with. */
export const temporalVersion = 'v1.5.1';

interface Tools {
  path: string[];
  cacheDir: string;
}

export interface Fetching {
  supervisor: Supervisor;
  logFile: string;
  note: (message: string) => void;
  /** Where programs are looked up and kept; by default as the environment says. */
  tools?: Tools;
  /** Keeps programs if the user's cache cannot be written. */
  otherCacheDir: string;
}

/**
 * Finds the Temporal CLI on PATH or in the cache, or else installs it into the cache: with the SDK's download, or with `go install`, which
 * takes two to three minutes. Throws an error for the user that says how to get it.
 */
export async function findTemporalCli(fetching: Fetching): Promise<string> {
  const tools = fetching.tools ?? loadToolConfig(inheritedEnvironment());
  const onPath = findOnPath(tools.path, 'temporal');
  if (onPath !== undefined && isTemporalCli(onPath)) return onPath;
  const cached = [tools.cacheDir, fetching.otherCacheDir].map((dir) => join(dir, 'temporal', temporalVersion, 'temporal'));
  return cached.find(isExecutable) ?? (await fetchIntoCache(firstWritable(cached), tools, fetching));
}

async function fetchIntoCache(cached: string, tools: Tools, fetching: Fetching): Promise<string> {
  const dir = join(cached, '..', '..');
  const lock = await takeTurn(join(dir, 'fetch.lock'), fetching.note);
  try {
    if (isExecutable(cached)) return cached;
    const unfinished = join(dir, `${temporalVersion}.new`);
    const failures: string[] = [];
    for (const way of [download, goInstall]) {
      rmSync(unfinished, { recursive: true, force: true });
      mkdirSync(unfinished);
      const failure = await way(unfinished, tools.path, fetching);
      const binary = failure === undefined ? findBinary(unfinished) : undefined;
      if (binary !== undefined) return moveIntoCache(binary, cached, unfinished);
      failures.push(failure ?? 'the program was not where it belongs');
    }
    rmSync(unfinished, { recursive: true, force: true });
    throw new Error(notFound(cached, failures, fetching.logFile));
  } finally {
    lock.release();
  }
}

/** The first of the paths whose directory can be made and written. */
function firstWritable(programs: string[]): string {
  let failure: unknown;
  for (const program of programs) {
    try {
      mkdirSync(join(program, '..', '..'), { recursive: true });
      accessSync(join(program, '..', '..'), constants.W_OK);
      return program;
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

async function takeTurn(path: string, note: (message: string) => void) {
  for (let waited = false; ; waited = true) {
    const lock = tryLock(path);
    if (lock) return lock;
    if (!waited) note('waiting for another start that is getting the Temporal CLI');
    await delay(500);
  }
}

async function download(into: string, _path: string[], { supervisor, logFile, note }: Fetching): Promise<string | undefined> {
  note(`downloading the Temporal CLI ${temporalVersion}`);
  const script = fileURLToPath(new URL('temporal-download.ts', import.meta.url));
  // With this, fetch uses the same proxy as the download.
  const env = { NODE_USE_ENV_PROXY: '1' };
  const spec = { name: 'The download of the Temporal CLI', command: process.execPath, args: [script, temporalVersion, into], env, logFile };
  return await outcome(supervisor, spec);
}

async function goInstall(
  into: string,
  path: string[],
  { supervisor, logFile, note, otherCacheDir }: Fetching,
): Promise<string | undefined> {
  const go = findOnPath(path, 'go');
  if (go === undefined) return 'there is no `go` on PATH';
  const source = `github.com/temporalio/cli/cmd/temporal@${temporalVersion}`;
  note(`building the Temporal CLI with go install (once, a few minutes)`);
  return await outcome(supervisor, {
    name: 'go install',
    command: go,
    args: ['install', source],
    env: { ...otherGoCaches(into, otherCacheDir), GOBIN: into },
    cwd: into,
    logFile,
  });
}

/** The caches of Go, beside the program if they cannot be written where Go has them: below the user's home. None if they can, or are named. */
function otherGoCaches(into: string, otherCacheDir: string): Environment {
  if (!into.startsWith(otherCacheDir) && isWritable(homedir())) return {};
  const { GOCACHE, GOMODCACHE, GOFLAGS = '' } = inheritedEnvironment();
  return {
    GOCACHE: GOCACHE || join(otherCacheDir, 'go', 'build'),
    GOMODCACHE: GOMODCACHE || join(otherCacheDir, 'go', 'mod'),
    // Else the directory with the data could not be removed by its owner.
    GOFLAGS: `${GOFLAGS} -modcacherw`.trim(),
  };
}

async function outcome(supervisor: Supervisor, spec: ProcessSpec): Promise<string | undefined> {
  try {
    await supervisor.complete(spec);
    return undefined;
  } catch (error) {
    if (error instanceof ProcessError) return error.message.split('\n', 1)[0];
    throw error;
  }
}

function moveIntoCache(binary: string, cached: string, unfinished: string): string {
  mkdirSync(join(cached, '..'), { recursive: true });
  renameSync(binary, cached);
  rmSync(unfinished, { recursive: true });
  return cached;
}

function findBinary(dir: string): string | undefined {
  return readdirSync(dir)
    .filter((name) => name.startsWith('temporal'))
    .map((name) => join(dir, name))
    .find(isExecutable);
}

function findOnPath(path: string[], name: string): string | undefined {
  return path.map((dir) => join(dir, name)).find(isExecutable);
}

function isTemporalCli(program: string): boolean {
  return /^temporal version /.test(spawnSync(program, ['--version'], { encoding: 'utf8', timeout: 10_000 }).stdout ?? '');
}

function isWritable(dir: string): boolean {
  try {
    accessSync(dir, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return existsSync(path) && statSync(path).isFile();
  } catch {
    return false;
  }
}

function notFound(cached: string, [download = '', goInstall = '']: string[], logFile: string): string {
  return `The Temporal CLI is not on this machine, and could not be brought here:
  - ${download}
  - ${goInstall}
The log is ${logFile}. Any one of these helps:
  - install it (https://docs.temporal.io/cli, or \`brew install temporal\`), so that \`temporal\` is on PATH
  - put the program at ${cached}
  - install Go, and start again
  - set TEMPORAL_ADDRESS to a Temporal server that runs already`;
}
