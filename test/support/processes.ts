import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Environment } from '../../base/config/environment.ts';
import { inheritedEnvironment } from '../../base/config/local.ts';
import { commandOf } from '../../ops/local/supervise.ts';

/** A program under test, and what it has printed. */
export interface Program {
  child: ChildProcess;
  pid: number;
  stdout(): string;
  stderr(): string;
  /** Resolves with the first match in what it printed on either stream; rejects when it ends without one. */
  printed(pattern: RegExp, timeoutMs?: number): Promise<RegExpMatchArray>;
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

const programs = new Set<ChildProcess>();

/** Kills every program that still runs, so that a failed test leaves none. */
export function endPrograms(): void {
  for (const child of programs) child.kill('SIGKILL');
}

/** Runs a program, as another user if one is given. */
export function runProgram(
  command: string,
  args: string[],
  options: { env?: Environment; cwd?: string; uid?: number; gid?: number } = {},
): Program {
  const child = spawn(command, args, { ...options, env: { ...inheritedEnvironment(), ...options.env }, stdio: ['ignore', 'pipe', 'pipe'] });
  programs.add(child);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
  let ended = false;
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('error', (error) => (stderr += error.message));
    child.once('close', (code, signal) => {
      ended = true;
      programs.delete(child);
      resolve({ code, signal });
    });
  });
  return {
    child,
    pid: child.pid ?? 0,
    stdout: () => stdout,
    stderr: () => stderr,
    exited,
    printed: async (pattern, timeoutMs = 60_000) => {
      const find = () => pattern.exec(stdout) ?? pattern.exec(stderr);
      await until(() => find() !== null || ended, timeoutMs);
      const match = find();
      if (!match) throw new Error(`${args.join(' ')} did not print ${pattern}. It printed:\n${stdout}${stderr}`);
      return match;
    },
  };
}

/** Says whether a process runs; one that has ended and waits for its parent does not. */
export function isAlive(pid: number): boolean {
  return commandOf(pid) !== undefined;
}

/** Waits until a condition holds, looking less often the longer it takes; throws after the time limit. */
export async function until(condition: () => boolean | Promise<boolean>, timeoutMs = 60_000): Promise<void> {
  const startedAt = performance.now();
  while (!(await condition())) {
    const waitedMs = performance.now() - startedAt;
    if (waitedMs > timeoutMs) throw new Error(`This did not become true within ${timeoutMs} ms: ${condition}`);
    await delay(Math.min(100, 20 + waitedMs / 50));
  }
}

/** The live processes whose command line holds a text, such as the path of a data directory. Linux only: reads /proc. */
export function findProcesses(text: string): { pid: number; command: string }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), command: commandOf(Number(name)) ?? '' }))
    .filter(({ pid, command }) => pid !== process.pid && command.includes(text));
}

/** The live children of a process. Linux only: reads /proc. */
export function childrenOf(parent: number): { pid: number; command: string }[] {
  return findProcesses('').filter(({ pid }) => {
    try {
      // After the name in parentheses: state, then the parent's id.
      return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1]) === parent;
    } catch {
      return false;
    }
  });
}

/** What processes have used of a processor, in seconds; nothing if they have ended. Linux only: reads /proc. */
export function cpuSecondsOf(pids: number[]): number {
  return pids.reduce((sum, pid) => sum + ticksOf(pid), 0) / 100;
}

function ticksOf(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[11]);
  } catch {
    return 0;
  }
}
