import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { ServiceError } from '../service-error.ts';
import type { ChildMessage, TaskFailureReason } from './protocol.ts';
import { TaskFailure } from './protocol.ts';
import { readRssBytes } from './read-rss.ts';

const memoryCheckMs = 100;

/** What a child may use, and what it runs. */
export interface ChildOptions {
  /** The module that calls `serveTasks`. */
  entry: URL;
  /** Limit of the JavaScript heap. */
  heapMegabytes: number;
  /** Limit of the whole process, checked while a task runs where the system tells it (Linux). */
  memoryBytes: number;
  /** Told what a child writes to its standard error. */
  onStderr?: ((pid: number | undefined, text: string) => void) | undefined;
}

/** The limits of one task. */
export interface TaskOptions {
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** One child process: it becomes ready once, then runs one task at a time, and is killed rather than asked to stop. */
export class WarmChild {
  /** Resolves with the problem that the warm-up found, or null; rejects when the process ended first. */
  readonly ready: Promise<string | null>;
  readonly exited: Promise<void>;
  /** It was killed from outside, rather than having failed. */
  killedByOthers = false;
  /** What the process held after its last task. */
  rssBytes = 0;
  tasksDone = 0;
  usable = true;
  readonly #process: ChildProcess;
  readonly #memoryBytes: number;

  constructor(options: ChildOptions) {
    this.#memoryBytes = options.memoryBytes;
    this.#process = fork(options.entry, [], {
      serialization: 'advanced',
      execArgv: [`--max-old-space-size=${options.heapMegabytes}`, '--disable-warning=ExperimentalWarning'],
      // A document must not reach the service's secrets through the process that reads it.
      env: {},
      stdio: ['ignore', 'ignore', 'pipe', 'ipc', 'pipe'],
    });
    this.#process.stdio[4]?.on('error', () => {});
    this.#process.stderr?.setEncoding('utf8').on('data', (text: string) => options.onStderr?.(this.pid, text));
    this.exited = new Promise((resolve) => {
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
    this.ready = new Promise((resolve, reject) => {
      this.#process.once('message', (message: ChildMessage) => message.kind === 'ready' && resolve(message.problem));
      void this.exited.then(() => reject(new TaskFailure('unavailable', 'The process ended before it was ready.')));
    });
    this.ready.catch(() => {});
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Runs a task. Throws ServiceError (the child refused), TaskFailure (no answer), or the signal's reason. */
  async run(task: string, payload: unknown, { timeoutMs, signal }: TaskOptions): Promise<unknown> {
    signal?.throwIfAborted();
    const child = this.#process;
    const cleanUp: (() => void)[] = [];
    try {
      return await new Promise<unknown>((resolve, reject) => {
        const stop = (error: unknown) => {
          reject(error);
          this.kill();
        };
        const timer = setTimeout(() => stop(new TaskFailure('timeout', `The task ran longer than ${timeoutMs} ms.`)), timeoutMs);
        const memoryTimer = setInterval(() => void this.#checkMemory(stop), memoryCheckMs);
        const onAbort = () => stop(signal?.reason);
        const onMessage = (message: ChildMessage) => this.#settle(message, resolve, reject);
        const onExit = (code: number | null, by: NodeJS.Signals | null) => {
          reject(new TaskFailure(reasonOfExit(by), `The process ended with ${by ?? code}.`));
        };
        signal?.addEventListener('abort', onAbort, { once: true });
        child.on('message', onMessage);
        child.once('exit', onExit);
        child.send({ task, payload }, (error) => error && stop(new TaskFailure('killed', error.message)));
        cleanUp.push(() => {
          clearTimeout(timer);
          clearInterval(memoryTimer);
          signal?.removeEventListener('abort', onAbort);
          child.off('message', onMessage);
          child.off('exit', onExit);
        });
      });
    } finally {
      for (const undo of cleanUp) undo();
    }
  }

  kill(): void {
    this.usable = false;
    this.#process.kill('SIGKILL');
  }

  #settle(message: ChildMessage, resolve: (value: unknown) => void, reject: (error: unknown) => void): void {
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

/** A full heap ends V8 with SIGABRT, a fault with SIGSEGV and its like; only someone else sends the other signals. */
function reasonOfExit(by: NodeJS.Signals | null): TaskFailureReason {
  if (by === 'SIGABRT' || by === 'SIGTRAP') return 'memory';
  if (by === 'SIGKILL' || by === 'SIGTERM' || by === 'SIGINT' || by === 'SIGHUP') return 'killed';
  return 'crash';
}
