import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/connect.ts';

/** Small enough that a statement, and its locks, last a fraction of a second. */
const batchSize = 2_000;

export interface Expired {
  table: string;
  /** The columns of the primary key. */
  key: string[];
  where: RawBuilder<boolean>;
}

export interface BatchOptions {
  onProgress: (deleted: number) => void;
  signal: AbortSignal;
}

/** Deletes the rows that match a condition, in batches (docs/rules.md, large things are bounded). Returns how many. */
export async function deleteInBatches(db: Db, { table, key, where }: Expired, { onProgress, signal }: BatchOptions): Promise<number> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  let total = 0;
  for (;;) {
    signal.throwIfAborted();
    const { numAffectedRows } = await sql`
      delete from ${sql.table(table)} where (${columns}) in (
        select ${columns} from ${sql.table(table)} where ${where} limit ${batchSize} for update skip locked
      )
    `.execute(db);
    const deleted = Number(numAffectedRows ?? 0);
    total += deleted;
    onProgress(total);
    if (deleted < batchSize) return total;
  }
}

/** Finished jobs are kept for 30 days. Their ledger entries stay. */
export const finishedJobs: Expired = {
  table: 'job',
  key: ['id'],
  where: sql`finished_at < now() - interval '30 days'`,
};

/** Audit entries are kept for `AUDIT_LOG_RETENTION_DAYS`; 0 keeps them for ever. */
export function auditEntries(retentionDays: number): Expired {
  return { table: 'audit_entry', key: ['id'], where: sql`created_at < now() - make_interval(days => ${retentionDays})` };
}

export const sessions: Expired = { table: 'session', key: ['id'], where: sql`"expiresAt" < now()` };

/** Idempotency keys are kept for a day. */
export const idempotencyKeys: Expired = {
  table: 'idempotency_key',
  key: ['user_id', 'operation', 'key'],
  where: sql`created_at < now() - interval '1 day'`,
};

/** Mails that could not be sent. Their workflows are kept as long. */
export const mails: Expired = { table: 'mail', key: ['id'], where: sql`created_at < now() - interval '30 days'` };

/** Links to verify an address or to set a password that nobody followed, and states of a sign-in with a provider. */
export const verifications: Expired = { table: 'verification', key: ['id'], where: sql`"expiresAt" < now()` };

/** Events that the payment provider sent. It does not repeat one after so long. */
export const paymentEvents: Expired = { table: 'stripe_event', key: ['id'], where: sql`created_at < now() - interval '30 days'` };
