import { setTimeout as sleep } from 'node:timers/promises';
import { FairSemaphore } from '../../concurrency/fair-semaphore.ts';
import { WaitQueue } from '../../concurrency/wait-queue.ts';
import { fairnessKey } from '../fairness-key.ts';
import { TaskFailure } from './protocol.ts';
import { type ChildOptions, type TaskOptions, WarmChild } from './warm-child.ts';

const tasksPerChild = 5000;
const startAttempts = 3;
const attempts = 3;
const killedPauseMs = 100;
const deadlyKills = 2;

/** How many children there are, and how many more for requests under a fairness key of which no task runs. */
export interface PoolSize {
  size: number;
  spare?: number;
}

/**
 * A fixed number of warm child processes, each with at most one task. Tasks of different fairness keys take turns. A child that dies loses
 * only its task.
 */
export class ProcessPool {
  readonly #options: ChildOptions;
  readonly #turns: FairSemaphore;
  readonly #children = new Set<WarmChild>();
  readonly #idle: WarmChild[] = [];
  readonly #queue = new WaitQueue<WarmChild>();
  #closed = false;
  #failedStarts = 0;
  #problem: string | null = null;

  constructor({ size, spare = 0, ...options }: ChildOptions & PoolSize) {
    this.#options = options;
    this.#turns = new FairSemaphore(size, { reserve: spare });
    for (let index = 0; index < size + spare; index += 1) this.#start();
  }

  /** Why the children cannot work, as a clause, or null. */
  get problem(): string | null {
    return this.#failedStarts >= startAttempts ? 'its process does not start' : this.#problem;
  }

  /** How many tasks run, and how many wait for a child. */
  get load(): { running: number; waiting: number } {
    return { running: this.#children.size - this.#idle.length, waiting: this.#turns.waiting + this.#queue.size };
  }

  /**
   * Runs a task in the first child that is free. The timeout counts from there, the signal from the call.
   * Throws ServiceError (refused by the child), TaskFailure, or the signal's reason.
   */
  async run<T>(task: string, payload: unknown, options: TaskOptions): Promise<T> {
    let begun = 0;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return (await this.#runOnce(task, payload, options)) as T;
      } catch (error) {
        // One kill from outside says nothing about the document, so the task is retried in another child.
        const killed = error instanceof TaskFailure && error.reason === 'killed';
        if (killed && error.begun) begun += 1;
        if (begun === deadlyKills) throw new TaskFailure('deadly', 'Its processes were killed while they worked at it.');
        if (!killed || attempt === attempts || this.#closed) throw error;
      }
      // Several children are often killed together. After this pause the exits of the others are known.
      await sleep(killedPauseMs, undefined, { signal: options.signal });
    }
  }

  /** Ends the children at once, so that running tasks fail: drain first. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#queue.rejectAll(new TaskFailure('unavailable', 'The pool is closed.'));
    const children = [...this.#children];
    for (const child of children) child.kill();
    await Promise.all(children.map((child) => child.exited));
  }

  async #runOnce(task: string, payload: unknown, options: TaskOptions): Promise<unknown> {
    const endTurn = await this.#turns.acquire(fairnessKey(), options.signal);
    try {
      const child = await this.#acquire(options.signal);
      try {
        return await child.run(task, payload, options);
      } finally {
        this.#release(child);
      }
    } finally {
      endTurn();
    }
  }

  #acquire(signal: AbortSignal | undefined): Promise<WarmChild> {
    signal?.throwIfAborted();
    const child = this.#takeIdle();
    if (child) return Promise.resolve(child);
    if (this.#closed || this.#failedStarts >= startAttempts) {
      return Promise.reject(new TaskFailure('unavailable', 'No process can be started.'));
    }
    return this.#queue.wait(signal);
  }

  #takeIdle(): WarmChild | undefined {
    for (let child = this.#idle.pop(); child; child = this.#idle.pop()) if (child.usable) return child;
    return undefined;
  }

  #release(child: WarmChild): void {
    // WebAssembly memory and fragmented heaps never shrink, so a child that has grown is replaced.
    const worn = child.tasksDone >= tasksPerChild || child.rssBytes > this.#options.memoryBytes / 2;
    if (worn) child.kill();
    if (!child.usable) return;
    if (!this.#queue.resolveNext(child)) this.#idle.push(child);
  }

  #start(): void {
    if (this.#closed) return;
    const child = new WarmChild(this.#options);
    this.#children.add(child);
    void child.ready.then(
      (problem) => {
        this.#failedStarts = 0;
        this.#problem = problem;
        this.#release(child);
      },
      () => {
        if (child.killedByOthers) return;
        this.#failedStarts += 1;
        if (this.#failedStarts < startAttempts) return;
        this.#queue.rejectAll(new TaskFailure('unavailable', 'No process can be started.'));
      },
    );
    void child.exited.then(() => this.#replace(child));
  }

  async #replace(child: WarmChild): Promise<void> {
    this.#children.delete(child);
    if (this.#failedStarts > 0) await sleep(Math.min(250 * 2 ** this.#failedStarts, 10_000), undefined, { ref: false });
    this.#start();
  }
}
