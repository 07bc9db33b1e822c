import { type Kysely, sql, type Transaction } from 'kysely';

/** How long a migration may wait for a lock, in milliseconds: later requests for the lock wait as long. `migrate` retries. */
const lockTimeoutMs = 500;

/** Bounds the wait of a transaction's statements for locks (CONTRIBUTING.md, migrations). */
export async function waitBriefly<D>(trx: Kysely<D>): Promise<void> {
  await sql.raw(`set local lock_timeout = ${lockTimeoutMs}`).execute(trx);
}

/** Runs a transaction within an online migration, for changes that hold locks only briefly. */
export async function withShortLocks<D>(db: Kysely<D>, work: (trx: Transaction<D>) => Promise<void>): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await waitBriefly(trx);
    await work(trx);
  });
}

/**
 * Builds indexes concurrently, by name. Rebuilds one that an interrupted build has left invalid. Waits for every open transaction, however
 * long, without blocking readers and writers.
 */
export async function createIndexes(db: Kysely<unknown>, indexes: Record<string, string>): Promise<void> {
  await db.connection().execute((held) =>
    withoutLockTimeout(held, async () => {
      for (const [name, definition] of Object.entries(indexes)) {
        if (await isUnusable(held, name)) await sql.raw(`drop index concurrently ${name}`).execute(held);
        await sql.raw(`create index concurrently if not exists ${name} ${definition}`).execute(held);
      }
    }),
  );
}

/** `lock_timeout` would also bound the waits for older transactions, of which a concurrent build has several. */
async function withoutLockTimeout(db: Kysely<unknown>, work: () => Promise<void>): Promise<void> {
  const { rows } = await sql<{ before: string }>`select current_setting('lock_timeout') as before`.execute(db);
  await setLockTimeout(db, '0');
  try {
    await work();
  } finally {
    await setLockTimeout(db, rows[0]?.before ?? '0');
  }
}

async function setLockTimeout(db: Kysely<unknown>, value: string): Promise<void> {
  await sql`select set_config('lock_timeout', ${value}, false)`.execute(db);
}

async function isUnusable(db: Kysely<unknown>, name: string): Promise<boolean> {
  const { rows } = await sql`select from pg_index where indexrelid = to_regclass(${name}) and not indisvalid`.execute(db);
  return rows.length > 0;
}
