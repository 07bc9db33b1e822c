import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../../base/config/environment.ts';
import { inheritedEnvironment, loadToolConfig, servesOwnConsole } from '../../base/config/local.ts';
import { buildDirectory } from '../../clients/web/build.ts';
import type { Supervisor } from './supervise.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The builds of the console, by their sources, in the user's cache: a clone with the same sources has no need to build. */
function consoleBuilds(): string {
  return join(loadToolConfig(inheritedEnvironment()).cacheDir, 'console');
}

/** The directory where the API looks for the console; undefined if it serves none, or `CONSOLE` names another. */
export function findConsoleDirectory(env: Environment): string | undefined {
  return servesOwnConsole(env) ? buildDirectory(consoleBuilds()) : undefined;
}

/** Builds the console, unless it is there. Throws ProcessError with Vite's messages. */
export async function buildConsoleOnce(supervisor: Supervisor, logFile: string): Promise<void> {
  const args = ['clients/web/main.ts', '--cached', consoleBuilds()];
  await supervisor.complete({ name: 'The build of the console', command: process.execPath, args, cwd: root, logFile });
}
