import { setTimeout as delay } from 'node:timers/promises';
import type { NativeConnection, Worker, WorkflowBundle } from '@temporalio/worker';
import type { Logger } from 'pino';
import { pause } from '../concurrency/pause.ts';

export interface RunWorkersOptions {
  log: Logger;
  connect(): Promise<NativeConnection>;
  bundle(): Promise<WorkflowBundle>;
  create(connection: NativeConnection, bundle: WorkflowBundle): Promise<Worker[]>;
  /** Called once Temporal is reachable, before the workers start. */
  prepare(): Promise<void>;
  /** Called with the connection of workers that run, and with undefined before it is closed. */
  onConnection(connection: NativeConnection | undefined): void;
  /** Called when a stop begins, before the workers are shut down. */
  onStop(): void;
  /** How long a stop may take, in milliseconds, even if Temporal is unreachable. */
  stopMs: number;
}

const firstDelayMs = 250;
const longestDelayMs = 5_000;
/** Workers that ran this long were not failing, so the next delay is a short one. */
const steadyMs = 60_000;

/** The workers of a process, run from its construction on: after each loss of Temporal or failure of a worker, all are created anew. */
export class RunningWorkers {
  readonly #options: RunWorkersOptions;
  readonly #stopping = new AbortController();
  readonly #loop: Promise<void>;
  #running = false;
  #workers: Worker[] = [];
  #bundle: Promise<WorkflowBundle> | undefined;

  constructor(options: RunWorkersOptions) {
    this.#options = options;
    this.#loop = this.#run();
  }

  /** Whether the workers poll right now. */
  get running(): boolean {
    return this.#running;
  }

  /** Stops polling, lets attempts finish within their grace, and hands back the rest. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#options.onStop();
    this.#shutDown();
    await Promise.race([this.#loop, delay(this.#options.stopMs)]);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    for (let delayMs = firstDelayMs; !signal.aborted; delayMs = Math.min(delayMs * 2, longestDelayMs)) {
      const startedAt = Date.now();
      try {
        await this.#runOnce();
      } catch (error) {
        this.#options.log.warn({ err: error }, 'the workers are not running; they begin again');
      }
      if (signal.aborted) return;
      if (Date.now() - startedAt > steadyMs) delayMs = firstDelayMs;
      await pause(delayMs, signal);
    }
  }

  async #runOnce(): Promise<void> {
    const { log, connect, bundle, create, prepare, onConnection } = this.#options;
    this.#bundle ??= bundle();
    const connection = await connect();
    try {
      await prepare();
      this.#workers = await create(connection, await this.#bundle);
      if (this.#stopping.signal.aborted) return;
      this.#running = true;
      onConnection(connection);
      // local/ and the tests wait for this line, so it is written at every LOG_LEVEL.
      log.child({}, { level: 'info' }).info({ queues: this.#workers.map((worker) => worker.options.taskQueue) }, 'worker running');
      await Promise.all(this.#workers.map((worker) => this.#runWorker(worker)));
    } finally {
      this.#running = false;
      onConnection(undefined);
      this.#workers = [];
      await connection.close().catch((error: unknown) => log.warn({ err: error }, "the workers' connection did not close"));
    }
  }

  /** If one worker ends, the others are shut down too: a process that serves only some of its queues would look healthy. */
  async #runWorker(worker: Worker): Promise<void> {
    try {
      await worker.run();
    } finally {
      this.#shutDown();
    }
  }

  #shutDown(): void {
    for (const worker of this.#workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  }
}
