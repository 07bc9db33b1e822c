import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Supervisor } from '../../local/supervise.ts';

const directory = resolve('.schemathesis');
const requirements = resolve('test/fuzz/requirements.txt');
/** Written last: tells a whole installation of exactly these requirements from an interrupted or older one. */
const installed = `${directory}/requirements.txt`;
const candidates = ['python3', 'python', 'python3.14', 'python3.13', 'python3.12', 'python3.11'];
// ensurepip is what Debian's python3 lacks without its package python3-venv.
const probe = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))';

/**
 * Installs Schemathesis as pinned in `requirements.txt` into `.schemathesis/` unless it is there, and returns the path of its
 * program. Throws an error for the user if there is no Python that can, and a ProcessError if the installation fails.
 */
export async function installSchemathesis(supervisor: Supervisor): Promise<string> {
  const program = `${directory}/bin/schemathesis`;
  if (isInstalled() && runs(program, ['--version'])) return program;
  const python = candidates.find((candidate) => runs(candidate, ['-c', probe]));
  if (python === undefined) {
    throw new Error(
      'Fuzzing needs Python 3.11 or newer with its modules venv and ensurepip, and there is none on the PATH.\n' +
        'Install it (on Debian and Ubuntu: python3 and python3-venv), and run this again.',
    );
  }
  console.log('Installing Schemathesis into .schemathesis/ …');
  await supervisor.complete({ name: 'venv', command: python, args: ['-m', 'venv', '--clear', directory] });
  const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--require-hashes', '-r', requirements];
  await supervisor.complete({ name: 'pip', command: `${directory}/bin/python`, args: install });
  copyFileSync(requirements, installed);
  return program;
}

function isInstalled(): boolean {
  return existsSync(installed) && readFileSync(installed, 'utf8') === readFileSync(requirements, 'utf8');
}

function runs(command: string, args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}
