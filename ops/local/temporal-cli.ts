import { spawnSync } from 'node:child_process';
import { accessSync, constants, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inheritedEnvironment, loadToolConfig } from '../../base/config/local.ts';
import { ProcessError, type ProcessSpec, type Supervisor } from './supervise.ts';

/** The release of the Temporal CLI whose development server the project is tested with. */
export const temporalVersion = 'v1.5.1';

interface Fetching {
  supervisor: Supervisor;
  logFile: string;
  note: (message: string) => void;
  /** Where programs are looked up and kept; by default as the environment says. */
  tools?: { path: string[]; cacheDir: string };
}

/**
 * Finds the Temporal CLI on PATH or in the cache, or else installs it into the cache: with the SDK's download, or with `go install`, which
 * takes two to three minutes. Throws an error for the user that says how to get it.
 */
export async function findTemporalCli(fetching: Fetching): Promise<string> {
  const { path, cacheDir } = fetching.tools ?? loadToolConfig(inheritedEnvironment());
  const onPath = findOnPath(path, 'temporal');
  if (onPath !== undefined && isTemporalCli(onPath)) return onPath;
  const cached = join(cacheDir, 'temporal', temporalVersion, 'temporal');
  if (!isExecutable(cached)) await fetchIntoCache(cached, findOnPath(path, 'go'), fetching);
  return cached;
}

async function fetchIntoCache(cached: string, go: string | undefined, fetching: Fetching): Promise<void> {
  const failures: string[] = [];
  for (const way of [download, goInstall]) {
    // Another start may do the same at once: each works in a directory of its own.
    const into = makeDirectoryIn(dirname(cached));
    try {
      const failure = await way(into, go, fetching);
      const program = readdirSync(into).find((name) => name.startsWith('temporal') && isExecutable(join(into, name)));
      if (failure === undefined && program !== undefined) return renameSync(join(into, program), cached);
      failures.push(failure ?? 'the program was not where it belongs');
    } finally {
      rmSync(into, { recursive: true, force: true });
    }
  }
  throw new Error(notFound(cached, failures, fetching.logFile));
}

function makeDirectoryIn(cache: string): string {
  try {
    mkdirSync(cache, { recursive: true });
    return mkdtempSync(join(cache, 'unfinished-'));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new Error(`Programs cannot be kept in ${cache} (${code}). Name a directory of yours with XDG_CACHE_HOME.`, { cause });
  }
}

async function download(into: string, _go: string | undefined, { supervisor, logFile, note }: Fetching): Promise<string | undefined> {
  note(`downloading the Temporal CLI ${temporalVersion}`);
  const script = fileURLToPath(new URL('temporal-download.ts', import.meta.url));
  // With this, fetch uses the same proxy as the download.
  const env = { NODE_USE_ENV_PROXY: '1' };
  const spec = { name: 'The download of the Temporal CLI', command: process.execPath, args: [script, temporalVersion, into], env, logFile };
  return await failureOf(supervisor, spec);
}

async function goInstall(into: string, go: string | undefined, { supervisor, logFile, note }: Fetching): Promise<string | undefined> {
  if (go === undefined) return 'there is no `go` on PATH';
  note('building the Temporal CLI with go install (once, a few minutes)');
  const args = ['install', `github.com/temporalio/cli/cmd/temporal@${temporalVersion}`];
  return await failureOf(supervisor, { name: 'go install', command: go, args, env: { GOBIN: into }, cwd: into, logFile });
}

async function failureOf(supervisor: Supervisor, spec: ProcessSpec): Promise<string | undefined> {
  try {
    await supervisor.complete(spec);
    return undefined;
  } catch (error) {
    if (error instanceof ProcessError) return error.message.split('\n', 1)[0];
    throw error;
  }
}

function findOnPath(path: string[], name: string): string | undefined {
  return path.map((dir) => join(dir, name)).find(isExecutable);
}

function isTemporalCli(program: string): boolean {
  return /^temporal version /.test(spawnSync(program, ['--version'], { encoding: 'utf8', timeout: 10_000 }).stdout ?? '');
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
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
