import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inheritedEnvironment, loadToolConfig } from '../../config/local.ts';
import { findFreePorts } from '../../local/ports.ts';
import { createSupervisor, ProcessError } from '../../local/supervise.ts';
import { makeTestDirectory, removeTestDirectory } from './directories.ts';

const version = 'v0.203.0';
const source = `github.com/stripe/stripe-mock@${version}`;

export interface StripeMock {
  url: string;
  stop(): Promise<void>;
}

/**
 * Starts Stripe's own mock, which holds each request against Stripe's OpenAPI document. It is built with `go install` the first time, and
 * kept in the user's cache; throws if there is neither.
 */
export async function startStripeMock(): Promise<StripeMock> {
  const directory = makeTestDirectory();
  const supervisor = createSupervisor();
  const stop = async () => {
    await supervisor.close();
    removeTestDirectory(directory);
  };
  try {
    const program = await findProgram(directory);
    const [port = 0, securePort = 0] = await findFreePorts(2);
    const args = ['-http-addr', `127.0.0.1:${port}`, '-https-addr', `127.0.0.1:${securePort}`];
    const logFile = join(directory, 'stripe-mock.log');
    const running = supervisor.run({ name: 'stripe-mock', command: program, args, logFile });
    const url = `http://127.0.0.1:${port}`;
    const isReady = () => fetch(url).then(Boolean, () => false);
    await supervisor.waitUntilReady(running, isReady, 30_000);
    return { url, stop };
  } catch (error) {
    await stop();
    throw error;
  }

  async function findProgram(directory: string): Promise<string> {
    const { path, cacheDir } = loadToolConfig(inheritedEnvironment());
    const cached = join(cacheDir, 'stripe-mock', version, 'stripe-mock');
    if (isExecutable(cached)) return cached;
    const go = path.map((each) => join(each, 'go')).find(isExecutable);
    if (go === undefined) throw new Error(`The requests to Stripe cannot be checked: install Go, which builds ${source}.`);
    const env = { GOBIN: directory };
    try {
      await supervisor.complete({
        name: 'go install',
        command: go,
        args: ['install', source],
        env,
        cwd: directory,
        logFile: join(directory, 'go.log'),
      });
    } catch (error) {
      if (error instanceof ProcessError) throw new Error(`${source} could not be built: ${error.message}`);
      throw error;
    }
    return keep(join(directory, 'stripe-mock'), cached);
  }
}

/** Another run may keep the same program at the same time. */
function keep(built: string, cached: string): string {
  mkdirSync(join(cached, '..'), { recursive: true });
  const unfinished = `${cached}.${process.pid}`;
  rmSync(unfinished, { force: true });
  spawnSync('cp', [built, unfinished]);
  renameSync(unfinished, cached);
  return cached;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return existsSync(path);
  } catch {
    return false;
  }
}
