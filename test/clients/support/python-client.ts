import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Environment } from '../../../base/config/environment.ts';
import { inheritedEnvironment, loadTestServices } from '../../../base/config/local.ts';
import { createSupervisor } from '../../../ops/local/supervise.ts';
import { buildPythonClient } from '../../lab/python/build-client.ts';
import { type Program, runProgram } from '../../support/processes.ts';

const directoryIn = (runDirectory: string) => resolve(runDirectory, 'python');
const python = resolve('.python/bin/python');

/** Builds the Python client and installs it, once for a run, before tests ask for it within their time. Throws what fails of it. */
export async function installPythonClient(runDirectory: string, signal: AbortSignal): Promise<void> {
  const supervisor = createSupervisor();
  const stop = () => void supervisor.close();
  signal.addEventListener('abort', stop);
  try {
    const { wheel } = await buildPythonClient(directoryIn(runDirectory), supervisor);
    const target = join(directoryIn(runDirectory), 'installed');
    const install = [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      '--no-deps',
      '--no-index',
      '--target',
      target,
      wheel,
    ];
    await supervisor.complete({ name: 'pip', command: python, args: install });
  } finally {
    signal.removeEventListener('abort', stop);
    await supervisor.close();
  }
}

/** Where this run has the wheel, the `sources` that it was made of, and what was `installed` from it. */
export function pythonClientDirectory(): string {
  const { recordDir } = loadTestServices(inheritedEnvironment());
  if (recordDir === undefined) throw new Error('The Python client is built by npm test.');
  return directoryIn(recordDir);
}

/** Runs Python with the client's wheel installed, and the packages that it needs. Whatever Python would only warn of is an error. */
export function runPython(args: string[], { env, cwd }: { env?: Environment; cwd?: string } = {}): Program {
  const PYTHONPATH = join(pythonClientDirectory(), 'installed');
  const options = { env: { PYTHONPATH, PYTHONDONTWRITEBYTECODE: '1', ...env }, ...(cwd === undefined ? {} : { cwd }) };
  return runProgram(python, ['-W', 'error', ...args], options);
}

/** Runs Python to its end, and returns what it printed. Throws what it printed otherwise unless it succeeds. */
export async function completePython(args: string[], options: { env?: Environment; cwd?: string } = {}): Promise<string> {
  const program = runPython(args, options);
  const { code } = await program.exited;
  if (code !== 0 || program.stderr() !== '') throw new Error(`Python ended with ${code}:\n${program.stdout()}${program.stderr()}`);
  return program.stdout();
}

export type PythonKind = 'sync' | 'async';
/** The sync client is made of the async one: what holds of one is tried with the other each night, and by its README always. */
export const pythonKinds: PythonKind[] = process.env.TEST_NIGHTLY ? ['sync', 'async'] : ['async'];

/** The code of a program in test/clients/programs, which is written for the async client. */
export function pythonProgram(name: string, kind: PythonKind): string {
  const code = readFileSync(`test/clients/programs/${name}.py`, 'utf8');
  if (kind === 'async') return code;
  return code
    .replace(/\b(async|await) /g, '')
    .replaceAll('AsyncClient', 'Client')
    .replace('asyncio.run(main())', 'main()');
}
