import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readFileSync, readSync, renameSync } from 'node:fs';
import { platform } from 'node:os';
import { dirname } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../config/environment.ts';
import { inheritedEnvironment } from '../config/local.ts';

/** A program to run: with where its output goes, how it is stopped, and as which user (of this process, when absent). */
export interface ProcessSpec {
  name: string;
  command: string;
  args: string[];
  env?: Environment;
  cwd?: string;
  user?: { uid: number; gid: number };
  /** Takes all its output; without one it writes where this process does. */
  logFile?: string;
  /** What asks it to stop; SIGTERM when absent. */
  stopSignal?: 'SIGTERM' | 'SIGINT';
  /** How long a stop may take before SIGKILL; 10 s when absent. */
  graceMs?: number;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface RunningProcess {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string | undefined;
  /** Set once the process is gone. */
  readonly exit: Exit | undefined;
  readonly exited: Promise<Exit>;
  signal(signal: NodeJS.Signals): void;
  /** Sends a signal that ends it, and waits until it is gone. */
  kill(signal: NodeJS.Signals): Promise<Exit>;
  /** What it wrote so far. */
  readLog(): string;
  /** Asks it to stop, and kills it and what it started once its grace is over. */
  stop(): Promise<Exit>;
}

/** A process ended before it was ready, or without being asked to. Carries the end of its log. */
export class ProcessError extends Error {
  constructor(name: string, what: string, logFile: string | undefined) {
    const tail = logFile === undefined ? '' : readTail(logFile, 15);
    const log = logFile === undefined ? '' : `\nLog: ${logFile}`;
    super(`${name} ${what}.${tail ? `\nThe last lines of its log:\n${tail.replace(/^/gm, '    ')}` : ''}${log}`);
    this.name = 'ProcessError';
  }
}

export interface Supervisor {
  /** Starts a program in a session of its own, so that Ctrl-C reaches only the supervisor, which then stops things in order. */
  run(spec: ProcessSpec): RunningProcess;
  /** Runs a program to its end. Throws {@link ProcessError} unless it exits with 0. */
  complete(spec: ProcessSpec): Promise<void>;
  /** Polls until ready. Throws {@link ProcessError} when the process ends first or the time is over. */
  waitUntilReady(running: RunningProcess, ready: () => Promise<boolean>, timeoutMs: number): Promise<void>;
  /** The process that ends all others when this one dies; it outlives this one by a few seconds. */
  readonly guardPid: number;
  /** Stops what still runs, all at once, and starts nothing more. */
  close(): Promise<void>;
}

// The child announces itself to the guard before it becomes the program: a supervisor killed in between leaves nothing.
const announce = 'umask 077; echo "add $$ $1" >&3; exec 3>&-; shift; exec "$@"';

/** Starts a supervisor: every process it runs ends within a few seconds of this process, even when this one is killed by SIGKILL. */
export function createSupervisor(): Supervisor {
  const guard = startGuard();
  const live = new Set<RunningProcess>();
  let closed = false;

  function run(spec: ProcessSpec): RunningProcess {
    if (closed) throw new Error(`${spec.name} is not started: everything is being stopped.`);
    const log = openLog(spec.logFile);
    const stopSignal = spec.stopSignal ?? 'SIGTERM';
    const child = spawn('/bin/sh', ['-c', announce, 'sh', stopSignal.slice(3), spec.command, ...spec.args], {
      detached: true,
      stdio: ['ignore', log?.file ?? 'inherit', log?.file ?? 'inherit', guard.input],
      cwd: spec.cwd,
      env: { ...inheritedEnvironment(), ...spec.env },
      ...spec.user,
    });
    if (log) closeSync(log.file);
    return watch(child, spec, stopSignal, log?.sizeBytes ?? 0);
  }

  function watch(child: ChildProcess, spec: ProcessSpec, stopSignal: NodeJS.Signals, logStart: number): RunningProcess {
    const { pid } = child;
    if (pid === undefined) throw new ProcessError(spec.name, 'could not be started', spec.logFile);
    let exit: Exit | undefined;
    const exited = new Promise<Exit>((resolve) => {
      child.once('exit', (code, signal) => {
        exit = { code, signal };
        send(-pid, 'SIGKILL');
        guard.drop(pid);
        live.delete(running);
        resolve(exit);
      });
    });
    child.unref();
    const running: RunningProcess = {
      name: spec.name,
      pid,
      logFile: spec.logFile,
      get exit() {
        return exit;
      },
      exited,
      signal: (signal) => {
        if (!exit) send(pid, signal);
      },
      readLog: () => (spec.logFile === undefined ? '' : readFrom(spec.logFile, logStart)),
      kill: async (signal) => {
        child.ref();
        running.signal(signal);
        // A process that was suspended acts on no other signal before it goes on.
        running.signal('SIGCONT');
        return await exited;
      },
      stop: async () => {
        const timer = setTimeout(() => send(-pid, 'SIGKILL'), spec.graceMs ?? 10_000);
        return await running.kill(stopSignal).finally(() => clearTimeout(timer));
      },
    };
    live.add(running);
    return running;
  }

  async function waitUntilReady(running: RunningProcess, ready: () => Promise<boolean>, timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!running.exit) {
      if (await ready()) return;
      if (performance.now() > deadline)
        throw new ProcessError(running.name, `was not ready after ${Math.round(timeoutMs / 1000)} s`, running.logFile);
      await Promise.race([delay(50), running.exited]);
    }
    throw new ProcessError(running.name, `${describeExit(running.exit)} before it was ready`, running.logFile);
  }

  async function complete(spec: ProcessSpec): Promise<void> {
    const running = run(spec);
    // The child alone does not keep this process alive; the timer does.
    while (!running.exit) await Promise.race([delay(100), running.exited]);
    if (running.exit.code !== 0) throw new ProcessError(spec.name, describeExit(running.exit), spec.logFile);
  }

  async function close(): Promise<void> {
    closed = true;
    await Promise.all([...live].map((running) => running.stop()));
    guard.close();
  }

  return { run, complete, waitUntilReady, guardPid: guard.pid, close };
}

/** `exited with code 1`, `was killed by SIGKILL`. */
export function describeExit(exit: Exit): string {
  return exit.signal ? `was killed by ${exit.signal}` : `exited with code ${exit.code}`;
}

function openLog(path: string | undefined): { file: number; sizeBytes: number } | undefined {
  if (path === undefined) return undefined;
  mkdirSync(dirname(path), { recursive: true });
  const file = openSync(path, 'a', 0o600);
  return { file, sizeBytes: fstatSync(file).size };
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

export interface Guard {
  pid: number;
  /** Where a child announces itself, as `add PID SIGNAL`. */
  input: Writable;
  /** Forgets a process that has ended. */
  drop(pid: number): void;
  close(): void;
}

/** Starts the script that ends the announced processes once this process is gone. It has a session of its own, so that no terminal ends it first. */
export function startGuard(): Guard {
  const script = fileURLToPath(new URL('guard.sh', import.meta.url));
  const child = spawn('/bin/sh', [script], { cwd: '/', detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  const { pid, stdin } = child;
  if (pid === undefined) throw new Error('The guard of the local processes could not be started: is there a /bin/sh?');
  // Killed from outside, the guard protects no more, but nothing else breaks.
  stdin.on('error', () => undefined);
  child.unref();
  (stdin as Writable & { unref?: () => void }).unref?.();
  return {
    pid,
    input: stdin,
    drop: (ended) => {
      if (stdin.writable) stdin.write(`drop ${ended}\n`);
    },
    close: () => stdin.end(),
  };
}

const tailBytes = 16_384;

/** The last lines of a file, without the ones that are cut off; empty when there is no such file. */
export function readTail(path: string, lines: number): string {
  if (!existsSync(path)) return '';
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const start = Math.max(0, size - tailBytes);
    const buffer = Buffer.alloc(size - start);
    const read = readSync(file, buffer, 0, buffer.length, start);
    const whole = buffer.toString('utf8', 0, read).trimEnd().split('\n');
    return (start > 0 ? whole.slice(1) : whole).slice(-lines).join('\n');
  } finally {
    closeSync(file);
  }
}

/** What was written to a file after its first bytes; empty when there is no such file. */
export function readFrom(path: string, startBytes: number): string {
  return existsSync(path) ? readFileSync(path).subarray(startBytes).toString('utf8') : '';
}

/** Sets the log of the run before aside as `<path>.1`, so that a log file tells of one run only. */
export function rotate(path: string): void {
  if (existsSync(path)) renameSync(path, `${path}.1`);
}

/** The command line of a live process, its arguments joined by spaces; undefined when there is no such process or it has ended. */
export function commandOf(pid: number): string | undefined {
  if (platform() !== 'linux') return spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).stdout?.trim() || undefined;
  try {
    // A zombie has no command line any more.
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim() || undefined;
  } catch {
    return undefined;
  }
}
