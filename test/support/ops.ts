import { expect } from 'chai';
import type { Environment } from '../../base/config/environment.ts';
import { runCommand } from '../../ops/run-command.ts';
import { runProgram } from './processes.ts';

/** Runs a command of `npm run ops` in this process, and returns how it ended. */
export async function runOps(args: string[], env: Environment) {
  const printed: string[] = [];
  const noted: string[] = [];
  const code = await runCommand(args, env, { print: (line) => printed.push(line), note: (line) => noted.push(line) });
  const textOf = (lines: string[]) => lines.map((line) => `${line}\n`).join('');
  return { code, stdout: textOf(printed), stderr: textOf(noted) };
}

/** Starts a command of `npm run ops` as a process of its own. */
export const startOps = (args: string[], env: Environment) => runProgram(process.execPath, ['ops/main.ts', ...args], { env });

/** Runs a command that must succeed, and returns what it prints as JSON. */
export async function opsResult(args: string[], env: Environment): Promise<any> {
  const { code, stdout, stderr } = await runOps([...args, '--json'], env);
  expect(code, stderr).to.equal(0);
  return JSON.parse(stdout);
}
