import { type ChildProcess, fork } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { ServiceError } from '../service-error.ts';
import { findIsolation, permissionArguments } from './isolation.ts';
import { type ChildMessage, TaskFailure, type TaskFailureReason } from './protocol.ts';

const memoryCheckMs = 100;

/** The module that a child runs, and its limits. */
export interface ChildOptions {
  /** The module that calls `serveTasks`. */
  entry: URL;
  heapMegabytes: number;
  /** Limit of the resident memory; checked while a task runs, only on Linux. */
  memoryBytes: number;
  /** The number of tasks after which it is replaced, so that the effects of a document end with the process. */
  maxTasks?: number;
  /** Whether the module needs native add-ons. */
  addons?: boolean;
  /** Whether the module starts programs, which are killed with it. */
  programs?: boolean;
  /** Whether the module starts threads, which the permission model does not hold. */
  threads?: boolean;
  /** The arguments of the module. */
  args?: string[];
  /** Further files that it may read. */
  readable?: string[];
  /** Called with a child's output to standard error. */
  onStderr?: ((pid: number | undefined, text: string) => void) | undefined;
}

/** The limits of one task. */
export interface TaskOptions {
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** A child process that becomes ready once, then runs one task at a time. It is stopped with SIGKILL. */
export class WarmChild {
  /** Resolves with the problem that the warm-up found, or null; rejects if the process ends first. */
  readonly ready: Promise<string | null>;
  readonly exited: Promise<void>;
  /** It was killed from outside and did not fail by itself. */
  killedByOthers = false;
  /** Its resident memory after the last task. */
  rssBytes = 0;
  tasksDone = 0;
  usable = true;
  readonly #process: ChildProcess;
  readonly #memoryBytes: number;
  readonly #leadsGroup: boolean;

  constructor(options: ChildOptions) {
    this.#memoryBytes = options.memoryBytes;
    this.#leadsGroup = options.programs === true;
    this.#process = forkChild(options);
    this.#process.stderr?.setEncoding('utf8').on('data', (text: string) => options.onStderr?.(this.pid, text));
    this.exited = this.#watchExit();
    this.ready = new Promise((resolve, reject) => {
      this.#process.once('message', (message: ChildMessage) => message.kind === 'ready' && resolve(message.problem));
      void this.exited.then(() => reject(new TaskFailure('unavailable', 'The process ended before it was ready.')));
    });
    this.ready.catch(() => {});
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Runs a task. Throws ServiceError (the child refused it), TaskFailure (it has no result), or the signal's reason. */
  async run(task: string, payload: unknown, { timeoutMs, signal }: TaskOptions): Promise<unknown> {
    signal?.throwIfAborted();
    const { promise: outcome, resolve, reject } = Promise.withResolvers<unknown>();
    const stop = (error: unknown) => {
      reject(error);
      this.kill();
    };
    const onAbort = () => stop(signal?.reason);
    let begun = false;
    const onMessage = (message: ChildMessage) => {
      if (message.kind === 'begun') begun = true;
      else this.#settle(message, resolve, reject);
    };
    const onExit = (code: number | null, by: NodeJS.Signals | null) => {
      reject(new TaskFailure(reasonOfExit(by), `The process ended with ${by ?? code}.`, begun));
    };
    const timer = setTimeout(() => stop(new TaskFailure('timeout', `The task ran longer than ${timeoutMs} ms.`)), timeoutMs);
    const memoryTimer = setInterval(() => void this.#checkMemory(stop), memoryCheckMs);
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#process.on('message', onMessage).once('exit', onExit);
    try {
      this.#process.send({ task, payload }, (error) => error && stop(new TaskFailure('killed', error.message)));
      return await outcome;
    } finally {
      clearTimeout(timer);
      clearInterval(memoryTimer);
      signal?.removeEventListener('abort', onAbort);
      this.#process.off('message', onMessage).off('exit', onExit);
    }
  }

  kill(): void {
    this.usable = false;
    if (this.#leadsGroup && this.pid !== undefined && this.#process.exitCode === null && this.#process.signalCode === null)
      killGroup(this.pid);
    this.#process.kill('SIGKILL');
  }

  #watchExit(): Promise<void> {
    return new Promise((resolve) => {
      const ended = () => {
        this.usable = false;
        resolve();
      };
      this.#process.once('exit', (_code, by) => {
        this.killedByOthers = this.usable && reasonOfExit(by) === 'killed';
        ended();
      });
      this.#process.on('error', ended);
    });
  }

  #settle(message: Exclude<ChildMessage, { kind: 'begun' }>, resolve: (value: unknown) => void, reject: (error: unknown) => void): void {
    if (message.kind === 'ready') return;
    if (message.kind === 'broken') {
      reject(new TaskFailure('crash', message.detail));
      this.kill();
      return;
    }
    this.tasksDone += 1;
    this.rssBytes = message.rssBytes;
    if (message.kind === 'result') resolve(message.result);
    else reject(new ServiceError(message.status, message.code, message.message));
  }

  async #checkMemory(stop: (error: unknown) => void): Promise<void> {
    const rssBytes = await readRssBytes(this.pid);
    if (rssBytes !== undefined && rssBytes > this.#memoryBytes) {
      stop(new TaskFailure('memory', `The process held ${rssBytes} bytes.`));
    }
  }
}

/** Kills a process with those that it has started. */
function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}

/**
 * All that a child knows of the environment: a document must not reach the service's secrets through the process that reads it. ONNX
 * Runtime sends its use and an identifier of the machine to its maker unless this variable says no.
 */
export const childEnvironment = { ORT_DISABLE_TELEMETRY: '1' };

function forkChild({
  entry,
  heapMegabytes,
  memoryBytes,
  addons = false,
  programs = false,
  threads = false,
  args = [],
  readable = [],
}: ChildOptions): ChildProcess {
  const [program = process.execPath, ...before] = [...findIsolation().command(memoryBytes), process.execPath];
  return fork(entry, args, {
    serialization: 'advanced',
    execPath: program,
    execArgv: [
      ...before,
      `--max-old-space-size=${heapMegabytes}`,
      '--disable-warning=ExperimentalWarning',
      ...permissionArguments(entry, { addons, programs, threads, also: readable }),
    ],
    // The service's own directory may be one that a child must not read.
    cwd: '/',
    env: childEnvironment,
    detached: programs,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
}

/** A full heap ends V8 with SIGABRT, a fault with SIGSEGV or similar; all other signals come from outside. */
function reasonOfExit(by: NodeJS.Signals | null): TaskFailureReason {
  if (by === 'SIGABRT' || by === 'SIGTRAP') return 'memory';
  if (by === 'SIGKILL' || by === 'SIGTERM' || by === 'SIGINT' || by === 'SIGHUP') return 'killed';
  return 'crash';
}

const pageBytes = 4096;

/** The resident memory of a process; undefined if it cannot be read cheaply, as everywhere except on Linux. */
async function readRssBytes(pid: number | undefined): Promise<number | undefined> {
  if (pid === undefined || process.platform !== 'linux') return undefined;
  try {
    const pages = Number((await readFile(`/proc/${pid}/statm`, 'latin1')).split(' ')[1]);
    return Number.isFinite(pages) ? pages * pageBytes : undefined;
  } catch {
    return undefined;
  }
}
