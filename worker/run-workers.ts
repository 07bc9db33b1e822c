import { setTimeout as delay } from 'node:timers/promises';
import type { NativeConnection, Worker, WorkflowBundle } from '@temporalio/worker';
import type { Logger } from 'pino';
import { pause } from '../concurrency/pause.ts';

/** The workers of this process, kept running through outages of Temporal. */
export interface RunningWorkers {
  /** Whether the workers poll right now. */
  readonly running: boolean;
  /** Stops polling, lets attempts finish within their grace, hands back the rest, and resolves when all is over or the time is. */
  stop(): Promise<void>;
}

export interface RunWorkersOptions {
  log: Logger;
  connect(): Promise<NativeConnection>;
  bundle(): Promise<WorkflowBundle>;
  create(connection: NativeConnection, bundle: WorkflowBundle): Promise<Worker[]>;
  /** Runs once Temporal answers, before the workers start: search attributes, schedules. */
  prepare(): Promise<void>;
  /** Runs as a stop begins, before the workers hear of it. */
  onStop(): void;
  /** The longest that a stop may take, in milliseconds: a server that does not answer holds no process back. */
  stopMs: number;
}

const firstDelayMs = 250;
const longestDelayMs = 5_000;

/** Connects and runs the workers; whenever Temporal is unreachable or a worker fails, begins again (docs/rules.md, outbox). */
export function runWorkers(options: RunWorkersOptions): RunningWorkers {
  const { log } = options;
  const stopping = new AbortController();
  let running = false;
  let current: Worker[] = [];
  let bundled: Promise<WorkflowBundle> | undefined;

  async function runOnce(): Promise<void> {
    bundled ??= options.bundle();
    const connection = await options.connect();
    try {
      await options.prepare();
      current = await options.create(connection, await bundled);
      if (stopping.signal.aborted) return;
      running = true;
      // Whoever started the process waits for this line, so it is written whatever LOG_LEVEL says.
      log.child({}, { level: 'info' }).info({ queues: current.map((worker) => worker.options.taskQueue) }, 'worker running');
      await Promise.all(current.map(runWorker));
    } finally {
      running = false;
      current = [];
      await connection.close().catch((error: unknown) => log.warn({ err: error }, "the workers' connection did not close"));
    }
  }

  /** One worker that ends takes the others with it: a process that serves only some of its queues would look well. */
  async function runWorker(worker: Worker): Promise<void> {
    try {
      await worker.run();
    } finally {
      for (const other of current) if (other.getState() === 'RUNNING') other.shutdown();
    }
  }

  const loop = (async () => {
    for (let delayMs = firstDelayMs; !stopping.signal.aborted; delayMs = Math.min(delayMs * 2, longestDelayMs)) {
      const startedAt = Date.now();
      try {
        await runOnce();
      } catch (error) {
        log.warn({ err: error }, 'the workers are not running; they begin again');
      }
      if (stopping.signal.aborted) return;
      if (Date.now() - startedAt > 60_000) delayMs = firstDelayMs;
      await pause(delayMs, stopping.signal);
    }
  })();

  return {
    get running() {
      return running;
    },
    async stop() {
      stopping.abort();
      options.onStop();
      for (const worker of current) if (worker.getState() === 'RUNNING') worker.shutdown();
      await Promise.race([loop, delay(options.stopMs)]);
    },
  };
}
