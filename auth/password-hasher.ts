import { type ChildProcess, fork } from 'node:child_process';
import { hashPassword, verifyPassword } from 'better-auth/crypto';
import type { Logger } from 'pino';
import { putInBackground } from '../concurrency/background.ts';

/** What the process is to do: hash a password, or verify that a hash is its. */
export interface PasswordTask {
  id: number;
  password: string;
  hash?: string;
}

/** Without a result if it failed. */
export interface PasswordAnswer {
  id: number;
  result?: string | boolean;
}

interface Options {
  log: Pick<Logger, 'warn'>;
  entry?: URL;
  /** After so long the process has stopped or does not get a processor. */
  patienceMs?: number;
  /** How long no other is started after one that ended. */
  pauseMs?: number;
}

/**
 * better-auth's functions for passwords, in a process of their own, which comes after others for a processor (docs/decisions/limits.md). It
 * starts with the first password, and ends with this process. What it cannot do, or does not in time, is done in this one.
 */
export class PasswordHasher {
  readonly #options: Required<Options>;
  readonly #tasks = new Map<number, (result: string | boolean | undefined) => void>();
  #child: ChildProcess | undefined;
  #lastId = 0;
  #noneUntil = 0;

  constructor(options: Options) {
    this.#options = { entry: new URL('password-process.ts', import.meta.url), patienceMs: 5_000, pauseMs: 10_000, ...options };
  }

  /** The process that hashes; undefined before the first password, and after it ended. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async hash(password: string): Promise<string> {
    return ((await this.#ask({ password })) as string | undefined) ?? (await hashPassword(password));
  }

  /** Throws if `hash` is not a hash of better-auth. */
  async verify(given: { hash: string; password: string }): Promise<boolean> {
    return ((await this.#ask(given)) as boolean | undefined) ?? (await verifyPassword(given));
  }

  async #ask(task: Omit<PasswordTask, 'id'>): Promise<string | boolean | undefined> {
    const child = this.#running();
    if (!child) return undefined;
    const id = ++this.#lastId;
    // Its end is what ends the task.
    const timer = setTimeout(() => child.kill('SIGKILL'), this.#options.patienceMs);
    const done = new Promise<string | boolean | undefined>((resolve) => this.#tasks.set(id, resolve));
    // It keeps this process from ending only while it works.
    child.channel?.ref();
    child.send({ id, ...task }, (error) => error && this.#end(id, undefined));
    return await done.finally(() => clearTimeout(timer));
  }

  #running(): ChildProcess | undefined {
    if (!this.#child && performance.now() >= this.#noneUntil) this.#child = this.#start();
    return this.#child;
  }

  /** Returns undefined where no process can be started. */
  #start(): ChildProcess | undefined {
    try {
      // A session of its own, whose priority is its own. No secrets of this process.
      const child = fork(this.#options.entry, {
        detached: true,
        env: {},
        execArgv: ['--max-old-space-size=32'],
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      });
      child.on('error', (error) => this.#lose(child, { err: error }));
      if (child.pid === undefined) return undefined;
      child.on('exit', (code, signal) => this.#lose(child, { code, signal }));
      child.on('message', ({ id, result }: PasswordAnswer) => this.#end(id, result));
      child.unref();
      void putInBackground(child.pid);
      return child;
    } catch (error) {
      this.#lose(undefined, { err: error });
      return undefined;
    }
  }

  #lose(child: ChildProcess | undefined, reason: object): void {
    this.#options.log.warn(reason, 'the process that hashes passwords ended; this one does it for a while');
    this.#noneUntil = performance.now() + this.#options.pauseMs;
    if (this.#child === child) this.#child = undefined;
    for (const id of this.#tasks.keys()) this.#end(id, undefined);
  }

  #end(id: number, result: string | boolean | undefined): void {
    this.#tasks.get(id)?.(result);
    this.#tasks.delete(id);
    if (this.#tasks.size === 0) this.#child?.channel?.unref();
  }
}
