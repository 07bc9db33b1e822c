import pg from 'pg';
import { type Measure, toFigure } from '../support/figure.ts';
import { migrateUnderLoad } from '../support/migrate-under-load.ts';

const rows = Number(process.env.BENCH_ROWS ?? 500_000);

/** The migrations since the first release, on tables of so many rows, while others write to each of them: the longest that a write waits. */
export const migrations: Measure = async (service) => {
  const admin = new pg.Client({ connectionString: service.stack.databaseUrl });
  await admin.connect();
  const url = new URL(service.stack.databaseUrl);
  url.pathname = '/migrated';
  try {
    await admin.query('create database migrated');
    const { seconds, longestWriteMs, longestBeforeMs } = await migrateUnderLoad(url.href, rows);
    return [
      toFigure(
        `migrations at ${rows.toLocaleString('en')} rows: longest write meanwhile`,
        { value: longestWriteMs, baseline: longestBeforeMs, unit: 'ms' },
        { atMost: 1_000 },
      ),
      toFigure(`migrations at ${rows.toLocaleString('en')} rows: time`, { value: seconds, unit: 's' }),
    ];
  } finally {
    await admin.query('drop database if exists migrated with (force)');
    await admin.end();
  }
};
