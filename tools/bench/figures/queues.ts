import { randomUUID } from 'node:crypto';
import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import pg from 'pg';
import PgBoss from 'pg-boss';
import { startBareTemporal } from '../support/bare-temporal.ts';
import { type Figure, type Measure, toFigure } from '../support/figure.ts';
import { median, perSecond } from '../support/rounds.ts';
import type { Service } from '../support/service.ts';

const concurrency = 20;
const slots = 2;

/** A queue of empty jobs; `run` resolves when the job is done. */
interface Queue {
  run(): Promise<unknown>;
  stop(): Promise<unknown>;
}

/**
 * For context: empty jobs through two queues on the same Postgres and through bare Temporal, with this service's concurrency. What
 * the queues lack compared with a workflow is in docs/performance.md.
 */
export const queues: Measure = async (service, { quick, rounds }) => {
  const jobs = quick ? 100 : 200;
  const figures: Figure[] = [];
  for (const [name, start] of Object.entries({ 'graphile-worker': graphileWorker, 'pg-boss': pgBoss, 'bare Temporal': bareTemporal })) {
    const queue = await start(service);
    try {
      const rates: number[] = [];
      await perSecond(jobs / 4, concurrency, queue.run);
      for (let round = 0; round < rounds(3); round++) rates.push(await perSecond(jobs, concurrency, queue.run));
      figures.push(toFigure(`${name}, jobs that do nothing, 20 at a time`, { value: median(rates), unit: 'jobs/s' }));
    } finally {
      await queue.stop();
    }
  }
  return figures;
};

/** Resolves waiting promises by the name of their job. */
class Waiting {
  readonly #resolvers = new Map<string, () => void>();

  until(name: string): Promise<void> {
    return new Promise((resolve) => this.#resolvers.set(name, resolve));
  }

  done(name: string): void {
    this.#resolvers.get(name)?.();
    this.#resolvers.delete(name);
  }
}

async function graphileWorker({ stack }: Service): Promise<Queue> {
  const waiting = new Waiting();
  const pgPool = new pg.Pool({ connectionString: stack.databaseUrl, max: 10 });
  pgPool.on('error', () => {}).on('connect', (client) => client.on('error', () => {}));
  const logger = new Logger(() => () => {});
  const utils = await makeWorkerUtils({ pgPool, logger });
  await utils.migrate();
  const runner = await run({
    pgPool,
    logger,
    concurrency: slots,
    noHandleSignals: true,
    taskList: { nothing: async (payload) => waiting.done((payload as { name: string }).name) },
  });
  return {
    async run() {
      const name = randomUUID();
      const done = waiting.until(name);
      await utils.addJob('nothing', { name });
      await done;
    },
    async stop() {
      await runner.stop();
      await utils.release();
      await pgPool.end();
    },
  };
}

async function pgBoss({ stack }: Service): Promise<Queue> {
  const waiting = new Waiting();
  const boss = new PgBoss(stack.databaseUrl);
  boss.on('error', () => {});
  await boss.start();
  await boss.createQueue('nothing');
  // It polls at most twice a second, so each poll takes a batch.
  const work = async (batch: PgBoss.Job<{ name: string }>[]) => {
    for (const { data } of batch) waiting.done(data.name);
  };
  for (let slot = 0; slot < slots; slot++) await boss.work('nothing', { pollingIntervalSeconds: 0.5, batchSize: concurrency }, work);
  return {
    async run() {
      const name = randomUUID();
      const done = waiting.until(name);
      await boss.send('nothing', { name });
      await done;
    },
    stop: () => boss.stop({ graceful: false }),
  };
}

async function bareTemporal(service: Service): Promise<Queue> {
  return await startBareTemporal(service);
}
