import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { createDb, createPool, type Db } from '../../../db/connect.ts';
import { migrate } from '../../../db/migrate.ts';
import { migrations } from '../../../db/migrations/index.ts';
import { triggers } from '../../../db/triggers.ts';
import { fillTables } from './fill-tables.ts';

/** The tables of the first release. */
export const lastOfFirstRelease = '0001-baseline';

interface Migrated {
  migrations: string[];
  seconds: number;
  writes: number;
  /** The longest that a write took while the migrations ran, and before them, in milliseconds. */
  longestWriteMs: number;
  longestBeforeMs: number;
}

/** Fills a database as the first release left it with rows, and applies the migrations since, and the rules, while others write to each large table. */
export async function migrateUnderLoad(url: string, rows: number, beforeMs = 2_000): Promise<Migrated> {
  const db = createDb(createPool({ url, poolSize: 2 + writes.length, bounds: { statementMs: 0, transactionMs: 0 } }));
  try {
    const first = Object.fromEntries(Object.entries(migrations).filter(([name]) => name <= lastOfFirstRelease));
    await migrate(db, { shipped: first });
    await fillTables(db, rows);
    const before = startWriters(db);
    await delay(beforeMs);
    const { longestMs: longestBeforeMs } = await before.stop();
    const writers = startWriters(db);
    const startedAt = performance.now();
    await migrate(db).finally(() => writers.settle());
    const seconds = (performance.now() - startedAt) / 1_000;
    const { writes, longestMs } = await writers.stop();
    const applied = [...Object.keys(migrations).filter((name) => name > lastOfFirstRelease), ...Object.keys(triggers)];
    return { migrations: applied, seconds, writes, longestWriteMs: longestMs, longestBeforeMs };
  } finally {
    await db.destroy();
  }
}

/** What requests write, each to a table of its own; the rows are those of `fillTables`. */
const writes: ((db: Db, n: number) => Promise<unknown>)[] = [
  (db, n) =>
    sql`insert into job (id, organization_id, kind, input, max_attempts, credits, credit_month)
      values (${`new-${n}`}, 'large', 'text.embed', '{"texts":["a"]}', 1, 1, '2026-11-01')`.execute(db),
  (db, n) => sql`update job set status = 'canceled' where id = ${`new-${n - 1}`}`.execute(db),
  (db, n) => sql`insert into audit_entry (id, action) values (${`new-${n}`}, 'job.create')`.execute(db),
  (db, n) =>
    sql`insert into credit_entry (organization_id, key, amount, month, reason) values ('large', ${`new-${n}`}, 1, '2026-11-01', 'x')`.execute(
      db,
    ),
  (db, n) => sql`update document set updated_at = now() where id = ${`document-${n}`}`.execute(db),
  (db, n) => sql`update organization set name = ${`New ${n}`} where id = 'large'`.execute(db),
  (db, n) => sql`insert into object_to_delete (key, organization_id) values (${`new-${n}`}, 'large')`.execute(db),
];

const pauseMs = 5;
let written = 0;

function startWriters(db: Db) {
  let running = true;
  let longestMs = 0;
  let count = 0;
  const write = async (statement: (typeof writes)[number]) => {
    while (running) {
      const startedAt = performance.now();
      await statement(db, written++);
      longestMs = Math.max(longestMs, performance.now() - startedAt);
      count++;
      await delay(pauseMs);
    }
  };
  const ended = Promise.all(writes.map(write));
  ended.catch(() => {});
  return {
    settle: () => {
      running = false;
    },
    async stop() {
      running = false;
      await ended;
      return { writes: count, longestMs };
    },
  };
}
