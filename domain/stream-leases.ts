import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../db/connect.ts';

/** One of the leases that a user's streams may hold. It ends at its time unless its stream renews it. */
interface StreamLeaseKey {
  userId: string;
  /** 1 to the number of streams that a user may have open. */
  slot: number;
  /** The connection that holds it: the id that the client gave to its stream, if any, a slash, and an id of its own. */
  holder: string;
}

/**
 * Acquires a lease of a user for `leaseSeconds`: the lease of an earlier connection of the same stream, which loses it, or a free one.
 * Undefined if other streams hold all `perUser` leases. The table's key gives each lease to one connection, so any number of processes may
 * call this at once.
 */
export async function acquireStreamLease(
  db: Db,
  { userId, streamId, perUser, leaseSeconds }: { userId: string; streamId: string | undefined; perUser: number; leaseSeconds: number },
): Promise<StreamLeaseKey | undefined> {
  const holder = `${streamId ?? ''}/${randomUUID()}`;
  const isOwn = streamId === undefined ? sql`false` : sql`split_part(lease.holder, '/', 1) = ${streamId}`;
  for (;;) {
    const { rows } = await sql<{ free: number; acquired: number | null }>`
      with free as (
        select numbered.slot, coalesce(${isOwn}, false) as is_own from generate_series(1, ${perUser}::int) as numbered (slot)
        left join job_stream_lease as lease on lease.user_id = ${userId} and lease.slot = numbered.slot
        where lease.slot is null or lease.expires_at <= now() or ${isOwn}
      ), acquired as (
        insert into job_stream_lease as lease (user_id, slot, holder, expires_at)
        select ${userId}, slot, ${holder}, now() + make_interval(secs => ${leaseSeconds}) from free order by is_own desc, slot limit 1
        on conflict (user_id, slot) do update set holder = excluded.holder, expires_at = excluded.expires_at
          where lease.expires_at <= now() or ${isOwn}
        returning slot
      ), left_over as (
        delete from job_stream_lease as lease where user_id = ${userId} and ${isOwn} and slot <> (select slot from acquired)
      )
      select (select count(*) from free) as free, (select slot from acquired) as acquired
    `.execute(db);
    const { free = 0, acquired = null } = rows[0] ?? {};
    if (acquired !== null) return { userId, slot: acquired, holder };
    // Another stream took the first free lease at the same moment; there may be a second one.
    if (free === 0) return undefined;
  }
}

/** Renews a lease for `leaseSeconds` from now. Returns false if it expired and another stream holds it. */
export async function renewStreamLease(db: Db, { userId, slot, holder }: StreamLeaseKey, leaseSeconds: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('job_stream_lease')
    .set({ expires_at: sql`now() + make_interval(secs => ${leaseSeconds})` })
    .where('user_id', '=', userId)
    .where('slot', '=', slot)
    .where('holder', '=', holder)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Releases a lease, unless it expired and another stream holds it. */
export async function releaseStreamLease(db: Db, { userId, slot, holder }: StreamLeaseKey): Promise<void> {
  await db.deleteFrom('job_stream_lease').where('user_id', '=', userId).where('slot', '=', slot).where('holder', '=', holder).execute();
}
