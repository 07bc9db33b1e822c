import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/connect.ts';
import { inTransaction } from '../db/transaction.ts';
import { isHeld } from './holds/legal-hold.ts';

/** Small enough that a statement holds its locks for a fraction of a second. */
const batchSize = 2_000;

export interface Expired {
  table: string;
  /** The columns of the primary key. */
  key: string[];
  /** The column with the time that decides. It has an index. */
  time: string;
  /** Whether that index also contains the id after the time. */
  indexedById?: boolean;
  /** Rows from before this time are deleted. */
  before: RawBuilder<Date>;
  /** Which of them stay, by the legal holds. */
  kept?: RawBuilder<boolean>;
}

/** The progress of a deletion: how many rows are deleted, and the time and id of the last one. */
export interface Deleted {
  deleted: number;
  last?: { time: string; id: string };
}

export interface BatchOptions {
  before: Deleted | undefined;
  onProgress: (progress: Deleted) => void;
  signal: AbortSignal;
}

/**
 * Deletes expired rows, the oldest first, in batches that each begin after the last one (docs/rules.md, large things are bounded).
 * Continues from `before`. Returns how many.
 */
export async function deleteInBatches(db: Db, expired: Expired, { before, onProgress, signal }: BatchOptions): Promise<number> {
  let progress: Deleted = before ?? { deleted: 0 };
  for (;;) {
    signal.throwIfAborted();
    const batch = await deleteBatch(db, expired, progress.last);
    progress = { deleted: progress.deleted + batch.deleted, ...(batch.last && { last: batch.last }) };
    onProgress(progress);
    if (batch.deleted < batchSize) return progress.deleted;
  }
}

async function deleteBatch(db: Db, { table, key, time, indexedById, before, kept }: Expired, last: Deleted['last']): Promise<Deleted> {
  const keys = sql.join(key.map((column) => sql.ref(column)));
  const order = indexedById ? sql`${sql.ref(time)}, id` : sql.ref(time);
  const id = indexedById ? sql`id` : sql`''`;
  const start = indexedById
    ? sql`(${order}) >= (${last?.time ?? '-infinity'}::timestamptz, ${last?.id ?? ''})`
    : sql`${order} >= ${last?.time ?? '-infinity'}::timestamptz`;
  const remove = sql<{ deleted: number; time: string | null; id: string }>`
    with batch as materialized (
      select ${keys}, ${sql.ref(time)} as batch_time, ${id} as batch_id from ${sql.table(table)}
      where ${sql.ref(time)} < ${before} and ${start} and not ${kept ?? sql`false`}
      order by ${order} limit ${batchSize} for update skip locked
    ), gone as (
      delete from ${sql.table(table)} where (${keys}) in (select ${keys} from batch) returning 1
    )
    select (select count(*) from gone) as deleted, batch_time::text as time, batch_id as id
    from batch order by batch_time desc, batch_id desc limit 1
  `;
  const { rows } = kept
    ? await inTransaction(db, async (trx) => {
        // A hold that is being set is seen, and a new one waits until the batch is gone.
        await sql`lock table legal_hold in share mode`.execute(trx);
        return await remove.execute(trx);
      })
    : await remove.execute(db);
  const [row] = rows;
  return row?.time ? { deleted: row.deleted, last: { time: row.time, id: row.id } } : { deleted: 0 };
}

/** A day has 24 hours here. An interval of days has an hour more or less where a session's clock changes. */
const daysAgo = (days: number) => sql<Date>`now() - make_interval(hours => ${24 * days})`;

/** Finished jobs are kept for 30 days, and while they are held. Their ledger entries stay. */
export const finishedJobs: Expired = { table: 'job', key: ['id'], time: 'finished_at', before: daysAgo(30), kept: isHeld('job') };

/** Audit entries are kept for `AUDIT_LOG_RETENTION_DAYS`, and while anything of their organization is held; 0 keeps them for ever. */
export function auditEntries(retentionDays: number): Expired {
  const before = daysAgo(retentionDays);
  return { table: 'audit_entry', key: ['id'], time: 'created_at', indexedById: true, before, kept: isHeld('audit_entry') };
}

export const sessions: Expired = { table: 'session', key: ['id'], time: 'expiresAt', before: sql`now()` };

/** Idempotency keys are kept for a day. */
export const idempotencyKeys: Expired = {
  table: 'idempotency_key',
  key: ['user_id', 'operation', 'key'],
  time: 'created_at',
  before: daysAgo(1),
};

/** Mails that could not be sent. Their workflows are kept for the same time. */
export const mails: Expired = { table: 'mail', key: ['id'], time: 'created_at', before: daysAgo(30) };

/** What providers did: a year can be compared with the same month of the year before. */
export const providerCalls: Expired = { table: 'provider_call', key: ['id'], time: 'created_at', before: daysAgo(400) };

/** Unused links to verify an address or set a password, and states of sign-ins with a provider. */
export const verifications: Expired = { table: 'verification', key: ['id'], time: 'expiresAt', before: sql`now()` };

/** Events of the payment provider, which does not repeat one after this time. */
export const paymentEvents: Expired = { table: 'stripe_event', key: ['id'], time: 'created_at', before: daysAgo(30) };

/** Deliveries to webhook endpoints, whose attempts end long before. */
export const webhookDeliveries: Expired = { table: 'webhook_delivery', key: ['id'], time: 'created_at', before: daysAgo(30) };
