import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inheritedEnvironment, loadToolConfig } from '../../base/config/local.ts';
import { buildDirectory } from '../../clients/web/build.ts';

/** The directory of the console's build. It is built the first time that its sources are asked for, and kept in the user's cache. */
export async function builtConsole(): Promise<string> {
  const builds = join(loadToolConfig(inheritedEnvironment()).cacheDir, 'console');
  // In a process of its own: Vite would set this one's NODE_ENV.
  await promisify(execFile)(process.execPath, ['clients/web/main.ts', '--cached', builds]);
  return buildDirectory(builds);
}
