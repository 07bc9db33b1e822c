import { spawn } from 'node:child_process';
import type { Environment } from '../../../base/config/environment.ts';
import { inheritedEnvironment } from '../../../base/config/local.ts';

interface CommandOptions {
  env?: Environment;
  cwd?: string;
  /** What it reads from its standard input. */
  input?: string;
}

export interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a command to its end. Does not throw if it fails or is not there: its code is then not 0. */
export async function tryCommand(command: string, args: string[], { env, cwd, input }: CommandOptions = {}): Promise<CommandResult> {
  const child = spawn(command, args, { cwd, env: { ...inheritedEnvironment(), ...env }, stdio: 'pipe' });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
  child.stdin.on('error', () => {});
  child.stdin.end(input ?? '');
  return await new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, stdout, stderr: error.message }));
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/** Runs a command and returns what it printed. Throws with the end of its messages if it fails. */
export async function runCommand(command: string, args: string[], options: CommandOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await tryCommand(command, args, options);
  if (code === 0) return stdout;
  throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${`${stdout}${stderr}`.slice(-3_000)}`);
}
