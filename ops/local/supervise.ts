import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, readFileSync } from 'node:fs';
import { platform } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Environment } from '../../base/config/environment.ts';
import { inheritedEnvironment } from '../../base/config/local.ts';
import { changeVariables } from '../../base/config/secret-files.ts';
import { type Guard, startGuard } from './guard.ts';
import { openLog, readFrom, readTail } from './log-file.ts';

/** A program to run. */
export interface ProcessSpec {
  name: string;
  command: string;
  args: string[];
  /** Variables besides the inherited ones. A variable here replaces the inherited one and its `_FILE`. */
  env?: Environment;
  cwd?: string;
  /** The user of this process by default. */
  user?: { uid: number; gid: number };
  /** Receives its output, which otherwise goes where the output of this process goes. */
  logFile?: string;
  /** The signal that stops it; SIGTERM by default. */
  stopSignal?: 'SIGTERM' | 'SIGINT';
  /** How long a stop may take before SIGKILL; 10 s by default. */
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
  /** Its output so far. */
  readLog(): string;
  /** Stops it. After its grace period kills it and the processes that it started. */
  stop(): Promise<Exit>;
}

/** A process did not start, or ended by mistake. The message has the end of its log. */
export class ProcessError extends Error {
  constructor(name: string, what: string, logFile: string | undefined) {
    const tail = logFile === undefined ? '' : readTail(logFile, 15);
    const log = logFile === undefined ? '' : `\nLog: ${logFile}`;
    super(`${name} ${what}.${tail ? `\nThe last lines of its log:\n${tail.replace(/^/gm, '    ')}` : ''}${log}`);
    this.name = 'ProcessError';
  }
}

export interface Supervisor {
  /** Starts a program in a session of its own, so that Ctrl-C reaches only the supervisor, which stops the programs in order. */
  run(spec: ProcessSpec): RunningProcess;
  /** Runs a program to its end. Throws {@link ProcessError} unless it exits with 0. */
  complete(spec: ProcessSpec): Promise<void>;
  /** Polls until ready. Throws {@link ProcessError} if the process ends first or the time is over. */
  waitUntilReady(running: RunningProcess, ready: () => Promise<boolean>, timeoutMs: number): Promise<void>;
  /** The process that ends all others if this one dies. */
  readonly guardPid: number;
  /** Stops all processes at once. None can be started afterwards. */
  close(): Promise<void>;
}

// The child registers with the guard before it becomes the program, so that it ends even if the supervisor is killed in between.
const announceAndBecome = 'umask 077; echo "add $$ $1" >&3; exec 3>&-; shift; exec "$@"';

/** Starts a supervisor: every process it runs ends within a few seconds of this process, even when this one is killed by SIGKILL. */
export function createSupervisor(): Supervisor {
  const guard = startGuard();
  const live = new Set<RunningProcess>();
  let closed = false;

  function run(spec: ProcessSpec): RunningProcess {
    if (closed) throw new Error(`${spec.name} is not started: everything is being stopped.`);
    const running = start(spec, guard, () => live.delete(running));
    live.add(running);
    return running;
  }

  return {
    run,
    waitUntilReady,
    async complete(spec) {
      const running = run(spec);
      // The timer keeps this process alive; the child, which is unreferenced, does not.
      while (!running.exit) await Promise.race([delay(100), running.exited]);
      if (running.exit.code !== 0) throw new ProcessError(spec.name, describeExit(running.exit), spec.logFile);
    },
    guardPid: guard.pid,
    async close() {
      closed = true;
      await Promise.all([...live].map((running) => running.stop()));
      guard.close();
    },
  };
}

function start(spec: ProcessSpec, guard: Guard, onExit: () => void): RunningProcess {
  const log = openLog(spec.logFile);
  const child = spawn('/bin/sh', ['-c', announceAndBecome, 'sh', stopSignalOf(spec).slice(3), spec.command, ...spec.args], {
    detached: true,
    stdio: ['ignore', log?.file ?? 'inherit', log?.file ?? 'inherit', guard.input],
    cwd: spec.cwd,
    env: changeVariables(inheritedEnvironment(), spec.env ?? {}),
    ...spec.user,
  });
  if (log) closeSync(log.file);
  const { pid } = child;
  if (pid === undefined) throw new ProcessError(spec.name, 'could not be started', spec.logFile);
  child.unref();
  return watch(child, { spec, pid, logStart: log?.sizeBytes ?? 0 }, () => {
    guard.drop(pid);
    onExit();
  });
}

/** A started process. Its output begins in the log file at `logStart`, in bytes. */
interface Started {
  spec: ProcessSpec;
  pid: number;
  logStart: number;
}

function watch(child: ChildProcess, { spec, pid, logStart }: Started, onExit: () => void): RunningProcess {
  let exit: Exit | undefined;
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => {
      exit = { code, signal };
      // Processes that it started and left running.
      send(-pid, 'SIGKILL');
      onExit();
      resolve(exit);
    });
  });
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
      // A suspended process acts on other signals only after SIGCONT.
      running.signal('SIGCONT');
      return await exited;
    },
    stop: async () => {
      const timer = setTimeout(() => send(-pid, 'SIGKILL'), spec.graceMs ?? 10_000);
      return await running.kill(stopSignalOf(spec)).finally(() => clearTimeout(timer));
    },
  };
  return running;
}

function stopSignalOf(spec: ProcessSpec): 'SIGTERM' | 'SIGINT' {
  return spec.stopSignal ?? 'SIGTERM';
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

/** `exited with code 1`, `was killed by SIGKILL`. */
export function describeExit(exit: Exit): string {
  return exit.signal ? `was killed by ${exit.signal}` : `exited with code ${exit.code}`;
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** The command line of a live process, its arguments joined by spaces; undefined if there is no such process. */
export function commandOf(pid: number): string | undefined {
  if (platform() !== 'linux') return spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).stdout?.trim() || undefined;
  try {
    // The command line of a zombie is empty.
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim() || undefined;
  } catch {
    return undefined;
  }
}
