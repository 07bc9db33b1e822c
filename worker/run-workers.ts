import { setTimeout as delay } from 'node:timers/promises';
import type { NativeConnection, Worker, WorkflowBundle } from '@temporalio/worker';
import type { Logger } from 'pino';
import { pause } from '../base/concurrency/pause.ts';

interface RunWorkersOptions {
  log: Logger;
  connect(): Promise<NativeConnection>;
  bundle(): Promise<WorkflowBundle>;
  create(connection: NativeConnection, bundle: WorkflowBundle): Promise<Worker[]>;
  /** Called once Temporal is reachable, before the workers start. */
  prepare(): Promise<void>;
  /** Called with the connection of running workers, and with undefined before it closes. */
  onConnection(connection: NativeConnection | undefined): void;
  /** Called when a stop begins, before the workers are shut down. */
  onStop(): void;
  /** Resolves when Temporal was silent for long and is back, which makes the workers reconnect; or when the signal aborts. */
  untilReconnected(signal: AbortSignal): Promise<void>;
  /** How long a stop may take, in milliseconds, even if Temporal is unreachable. */
  stopMs: number;
}

const firstDelayMs = 250;
const longestDelayMs = 5_000;
/** Workers that ran for this long were not failing, so the next delay is short again. */
const steadyMs = 60_000;

/** The workers of a process, run from its construction on: after each loss of Temporal or failure of a worker, all are created anew. */
export class RunningWorkers {
  readonly #options: RunWorkersOptions;
  readonly #stopping = new AbortController();
  readonly #loop: Promise<void>;
  #running = false;
  #workers: Worker[] = [];
  /** Replaced workers that have not ended yet; their connection may be dead. */
  readonly #leaving = new Set<Promise<unknown>>();
  #bundle: Promise<WorkflowBundle> | undefined;

  constructor(options: RunWorkersOptions) {
    this.#options = options;
    this.#loop = this.#run();
  }

  /** Whether the workers poll right now. */
  get running(): boolean {
    return this.#running;
  }

  /** Stops polling, lets attempts finish within their grace period, and hands back the others. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#options.onStop();
    shutDown(this.#workers);
    await Promise.race([Promise.all([this.#loop, ...this.#leaving]), delay(this.#options.stopMs)]);
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
    const { log, connect, create, prepare, onConnection } = this.#options;
    const bundled = this.#bundled();
    const connection = await connect();
    const watching = new AbortController();
    let runs: Promise<void>[] = [];
    try {
      await prepare();
      const workers = await create(connection, await bundled);
      this.#workers = workers;
      if (this.#stopping.signal.aborted) return;
      this.#running = true;
      onConnection(connection);
      // ops/local/ and the tests wait for this line, so it is written at every LOG_LEVEL.
      log.child({}, { level: 'info' }).info({ queues: workers.map((worker) => worker.options.taskQueue) }, 'worker running');
      runs = workers.map((worker) => runWorker(worker, workers));
      await Promise.race([Promise.all(runs), this.#untilReconnected(watching.signal)]);
    } finally {
      watching.abort();
      this.#running = false;
      onConnection(undefined);
      shutDown(this.#workers);
      this.#workers = [];
      this.#leave(runs, connection);
    }
  }

  /** The bundle, made once and while connecting; if that fails, it is made again the next time. */
  #bundled(): Promise<WorkflowBundle> {
    if (this.#bundle) return this.#bundle;
    const bundle = this.#options.bundle();
    // The run reports the error when it awaits the bundle. Until then an unhandled rejection would end the process.
    bundle.catch(() => {
      this.#bundle = undefined;
    });
    this.#bundle = bundle;
    return bundle;
  }

  /** Never resolves while the process stops, since the stop waits for the workers. */
  async #untilReconnected(ended: AbortSignal): Promise<void> {
    const { signal } = this.#stopping;
    await this.#options.untilReconnected(AbortSignal.any([ended, signal]));
    if (signal.aborted || ended.aborted) await new Promise(() => {});
    this.#options.log.warn('Temporal was silent for long; the workers connect anew');
  }

  /** Workers with a dead connection take their whole grace period to end. Only a stop waits for them. */
  #leave(runs: Promise<void>[], connection: NativeConnection): void {
    const left = Promise.allSettled(runs)
      .then(() => connection.close())
      .catch((error: unknown) => this.#options.log.warn({ err: error }, "the workers' connection did not close"))
      .finally(() => this.#leaving.delete(left));
    this.#leaving.add(left);
  }
}

/** If one worker ends, the others are shut down too: a process that serves only some of its queues would look healthy. */
async function runWorker(worker: Worker, workers: readonly Worker[]): Promise<void> {
  try {
    await worker.run();
  } finally {
    shutDown(workers);
  }
}

function shutDown(workers: readonly Worker[]): void {
  for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
}
