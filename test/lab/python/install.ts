import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Supervisor } from '../../../ops/local/supervise.ts';

const candidates = ['python3', 'python', 'python3.14', 'python3.13', 'python3.12', 'python3.11'];
// ensurepip is what Debian's python3 lacks without its package python3-venv.
const probe = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))';

interface PythonTools {
  /** What cannot be done without them, to begin a sentence with. */
  needed: string;
  /** Where they are installed: a folder that git ignores. */
  directory: string;
  /** Every package with its version and hashes. */
  requirements: string;
}

/**
 * Installs Python packages as they are pinned unless they are there, and returns the directory of their programs. Throws an error for
 * the user if there is no Python that can, and a ProcessError if the installation fails.
 */
export async function installPythonTools(tools: PythonTools, supervisor: Supervisor): Promise<string> {
  const directory = resolve(tools.directory);
  const requirements = resolve(tools.requirements);
  const programs = join(directory, 'bin');
  // Written last: tells a whole installation of exactly these requirements from an interrupted or older one.
  const installed = join(directory, 'requirements.txt');
  const isInstalled = existsSync(installed) && readFileSync(installed, 'utf8') === readFileSync(requirements, 'utf8');
  if (isInstalled && runs(join(programs, 'python'), ['--version'])) return programs;
  const python = candidates.find((candidate) => runs(candidate, ['-c', probe]));
  if (python === undefined) {
    throw new Error(
      `${tools.needed} needs Python 3.11 or newer with its modules venv and ensurepip, and there is none on the PATH.\n` +
        'Install it (on Debian and Ubuntu: python3 and python3-venv), and run this again.',
    );
  }
  console.log(`Installing Python packages into ${tools.directory}/ …`);
  await supervisor.complete({ name: 'venv', command: python, args: ['-m', 'venv', '--clear', directory] });
  const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--require-hashes', '-r', requirements];
  await supervisor.complete({ name: 'pip', command: join(programs, 'python'), args: install });
  copyFileSync(requirements, installed);
  return programs;
}

function runs(command: string, args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}
