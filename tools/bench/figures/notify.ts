import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { type Measure, toFigure } from '../support/figure.ts';
import { alternate, median, percentile, perSecond } from '../support/rounds.ts';

const connections = 16;
const commits = 3_000;
const pacedPerSecond = 1_000;
const pacedSeconds = 5;
const rounds = 5;

/**
 * What the notification of a changed job costs its transaction. Postgres commits transactions with notifications one after another, from the
 * moment that it queues them: beside the same inserts without the trigger, as fast as they go, and at 1,000 a second.
 */
export const notify: Measure = async (service) => {
  const pool = new pg.Pool({ connectionString: service.stack.databaseUrl, max: connections });
  const listener = new pg.Client({ connectionString: service.stack.databaseUrl });
  await listener.connect();
  await listener.query('listen job_changed');
  let written = 0;
  const insert = () =>
    pool.query(
      `insert into job (id, organization_id, kind, status, input, max_attempts, credits, credit_month, finished_at)
       values ($1, $2, 'text.embed', 'succeeded', '{"texts":["a"]}', 1, 1, '2026-01-01', now())`,
      [`notify-${written++}`, service.organizationId],
    );
  const withTrigger = async <T>(enabled: boolean, work: () => Promise<T>) => {
    await pool.query(`alter table job ${enabled ? 'enable' : 'disable'} trigger job_inserted`);
    return work();
  };
  const asFast = () => perSecond(commits, connections, insert);
  try {
    const fast = await alternate(
      rounds,
      () => withTrigger(true, asFast),
      () => withTrigger(false, asFast),
    );
    const told: number[] = [];
    const untold: number[] = [];
    for (let round = 0; round < rounds; round++) {
      told.push(...(await withTrigger(true, () => paced(insert))));
      untold.push(...(await withTrigger(false, () => paced(insert))));
    }
    await withTrigger(true, async () => {});
    const at = (percent: number) => ({ value: percentile(told, percent), baseline: percentile(untold, percent), unit: 'ms' });
    return [
      toFigure('commits with a notification, 16 at once', { ...fast, unit: 'commits/s' }),
      toFigure('a commit with a notification, at 1,000 a second: p50', { ...at(50), ratio: median(told) / median(untold) }),
      toFigure('a commit with a notification, at 1,000 a second: p99', at(99)),
    ];
  } finally {
    await listener.end();
    await pool.end();
  }
};

/** Begins so many a second, whether the ones before have ended or not. Returns how long each took, the wait for a connection included. */
async function paced(task: () => Promise<unknown>): Promise<number[]> {
  const durations: number[] = [];
  const running: Promise<void>[] = [];
  const startedAt = performance.now();
  const total = pacedPerSecond * pacedSeconds;
  for (let begun = 0; begun < total; ) {
    const due = Math.min(total, ((performance.now() - startedAt) / 1_000) * pacedPerSecond);
    for (; begun < due; begun++) {
      const at = performance.now();
      running.push(task().then(() => void durations.push(performance.now() - at)));
    }
    await delay(2);
  }
  await Promise.all(running);
  return durations;
}
