import { type ChildProcess, fork } from 'node:child_process';
import { hashPassword, verifyPassword } from 'better-auth/crypto';
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

const entry = new URL('password-process.ts', import.meta.url);

/**
 * better-auth's functions for passwords, in a process of their own, which comes after others for a processor (docs/decisions/limits.md). It
 * starts with the first password, and ends with this process. What it has not done when it ends is done in this one.
 */
export class PasswordHasher {
  #child: ChildProcess | undefined;
  readonly #tasks = new Map<number, (result: string | boolean | undefined) => void>();
  #lastId = 0;

  /** The process that hashes; undefined before the first password, and after it ended. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async hash(password: string): Promise<string> {
    return ((await this.#ask({ password })) as string | undefined) ?? (await hashPassword(password));
  }

  /** Throws if the hash is none. */
  async verify(given: { hash: string; password: string }): Promise<boolean> {
    return ((await this.#ask(given)) as boolean | undefined) ?? (await verifyPassword(given));
  }

  #ask(task: Omit<PasswordTask, 'id'>): Promise<string | boolean | undefined> {
    this.#child ??= this.#start();
    const child = this.#child;
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#tasks.set(id, resolve);
      // It keeps this process from ending only while it works.
      child.channel?.ref();
      child.send({ id, ...task }, (error) => error && this.#end(id, undefined));
    });
  }

  #start(): ChildProcess {
    // A session of its own, whose priority is its own. No secrets of this process.
    const child = fork(entry, { detached: true, env: {}, execArgv: ['--max-old-space-size=32'] });
    child.unref();
    if (child.pid !== undefined) void putInBackground(child.pid);
    child.on('message', ({ id, result }: PasswordAnswer) => this.#end(id, result));
    const lose = () => {
      if (this.#child === child) this.#child = undefined;
      for (const id of this.#tasks.keys()) this.#end(id, undefined);
    };
    child.on('error', lose);
    child.on('exit', lose);
    return child;
  }

  #end(id: number, result: string | boolean | undefined): void {
    this.#tasks.get(id)?.(result);
    this.#tasks.delete(id);
    if (this.#tasks.size === 0) this.#child?.channel?.unref();
  }
}
