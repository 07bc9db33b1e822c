import { type Kysely, sql, type Transaction } from 'kysely';

/** How long a migration may wait for a lock, in milliseconds: whoever comes after it waits as long. `migrate` tries again. */
const lockTimeoutMs = 500;

/** Makes the statements of a transaction give up a lock that they do not get at once (CONTRIBUTING.md, migrations). */
export async function waitBriefly<D>(trx: Kysely<D>): Promise<void> {
  await sql.raw(`set local lock_timeout = ${lockTimeoutMs}`).execute(trx);
}

/** A transaction within an online migration, for changes that hold their locks for a moment. */
export async function withShortLocks<D>(db: Kysely<D>, work: (trx: Transaction<D>) => Promise<void>): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await waitBriefly(trx);
    await work(trx);
  });
}

/**
 * Builds indexes while others write, by name. One that an interrupted build has left unusable is built again. Waits for every transaction
 * that is open, however long it takes: nobody who reads or writes waits behind it.
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

/** Drops indexes while others read and write. Waits as {@link createIndexes} does. */
export async function dropIndexes(db: Kysely<unknown>, names: string[]): Promise<void> {
  await db.connection().execute((held) =>
    withoutLockTimeout(held, async () => {
      for (const name of names) await sql.raw(`drop index concurrently if exists ${name}`).execute(held);
    }),
  );
}

/** A lock's bound also counts for the wait for older transactions, which a concurrent build has several times. */
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
