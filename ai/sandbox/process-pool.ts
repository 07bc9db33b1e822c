import { setTimeout as sleep } from 'node:timers/promises';
import { FairSemaphore } from '../../base/concurrency/fair-semaphore.ts';
import { ServiceError } from '../service-error.ts';
import { currentTenant } from '../tenant.ts';
import { TaskFailure } from './protocol.ts';
import { type ChildOptions, type TaskOptions, WarmChild } from './warm-child.ts';

/** A start takes 0.4 seconds of a processor: 8 ms for each task. */
const defaultMaxTasks = 50;
/** After so many starts in a row that failed, tasks are refused at once. */
const startAttempts = 3;
/** Of one tenant; of all four times as many. */
const maxWaiting = 512;
const killedPauseMs = 100;

/**
 * A fixed number of warm child processes, each with at most one task. Tenants get their turns, and the tasks of one are served first come,
 * first served. A child that dies loses only its task.
 */
export class ProcessPool {
  readonly #options: ChildOptions;
  readonly #slots: FairSemaphore;
  /** One for each slot that is free; some may still be starting. */
  readonly #idle: WarmChild[] = [];
  readonly #children = new Set<WarmChild>();
  #closed = false;
  #failedStarts = 0;
  #problem: string | null = null;

  constructor({ size, ...options }: ChildOptions & { size: number }) {
    this.#options = options;
    this.#slots = new FairSemaphore(size);
    for (let index = 0; index < size; index += 1) this.#idle.push(this.#start());
  }

  /** Why the children cannot work, as a clause, or null. */
  get problem(): string | null {
    return this.#failedStarts >= startAttempts ? 'its process does not start' : this.#problem;
  }

  /** How many tasks run, and how many wait for a child. */
  get load(): { running: number; waiting: number } {
    return { running: this.#slots.held, waiting: this.#slots.waiting };
  }

  /**
   * Runs a task in the first child that is free. The timeout counts from there, the signal from the call. A task whose child was killed from
   * outside is tried once more in another. Throws ServiceError (refused by the child, or 503 `busy`), TaskFailure, or the signal's reason.
   */
  async run<T>(task: string, payload: unknown, options: TaskOptions): Promise<T> {
    const runOnce = () => this.#slots.run(currentTenant(), () => this.#runInChild(task, payload, options), options.signal) as Promise<T>;
    if (this.#slots.isCrowded(currentTenant(), maxWaiting)) {
      throw new ServiceError(503, 'busy', 'Too much work waits just now.', { retryAfterSeconds: 2 });
    }
    try {
      return await runOnce();
    } catch (first) {
      if (!wasKilled(first) || this.#closed) throw first;
      // Children are often killed together: without this pause the second try could go to a child that is dead already.
      await sleep(killedPauseMs, undefined, { signal: options.signal });
      return await runOnce().catch((second: unknown) => {
        if (!first.begun || !wasKilled(second) || !second.begun) throw second;
        throw new TaskFailure('deadly', 'Its processes were killed while they worked at it.');
      });
    }
  }

  /** Ends the children at once, so that running tasks fail: drain first. */
  async close(): Promise<void> {
    this.#closed = true;
    const children = [...this.#children];
    for (const child of children) child.kill();
    await Promise.all(children.map((child) => child.exited));
  }

  async #runInChild(task: string, payload: unknown, options: TaskOptions): Promise<unknown> {
    if (this.#closed || this.#failedStarts >= startAttempts) throw new TaskFailure('unavailable', 'No process can be started.');
    const idle = this.#idle.pop();
    const child = idle?.usable ? idle : this.#start();
    try {
      await child.ready;
      return await child.run(task, payload, options);
    } finally {
      this.#release(child);
    }
  }

  #release(child: WarmChild): void {
    const { maxTasks = defaultMaxTasks, memoryBytes } = this.#options;
    // WebAssembly memory and fragmented heaps never shrink, so a child that has grown is replaced.
    const worn = child.tasksDone >= maxTasks || child.rssBytes > memoryBytes / 2;
    if (worn) child.kill();
    if (child.usable) this.#idle.push(child);
    else if (!this.#closed) this.#idle.push(this.#start());
  }

  #start(): WarmChild {
    const child = new WarmChild(this.#options);
    this.#children.add(child);
    void child.ready.then(
      (problem) => {
        this.#failedStarts = 0;
        this.#problem = problem;
      },
      () => {
        if (!child.killedByOthers) this.#failedStarts += 1;
      },
    );
    void child.exited.then(() => this.#replaceIdle(child));
    return child;
  }

  /** The child of a running task is replaced when its slot is released. */
  async #replaceIdle(child: WarmChild): Promise<void> {
    this.#children.delete(child);
    if (this.#failedStarts > 0) await sleep(Math.min(250 * 2 ** this.#failedStarts, 10_000), undefined, { ref: false });
    const index = this.#idle.indexOf(child);
    if (index >= 0 && !this.#closed) this.#idle[index] = this.#start();
  }
}

function wasKilled(error: unknown): error is TaskFailure {
  return error instanceof TaskFailure && error.reason === 'killed';
}
