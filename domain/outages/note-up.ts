import { sql } from 'kysely';
import type { Db, Transaction } from '../../db/connect.ts';
import type { OutagePart } from '../../db/schema.ts';
import { inTransaction } from '../../db/transaction.ts';
import { type Actor, recordAudit } from '../audit.ts';
import { interval } from './admit.ts';
import { releaseWaiting } from './release-waiting.ts';

/** How many waiting jobs each success lets go on, while it is not certain that all may. */
const afterSuccess = 2;
/** After so many successes without a failure the part is there. */
const enough = 5;
/** How many waiting jobs the end of an outage lets go on at once; the sweep does the rest. */
const afterEnd = 200;

/**
 * Notes that an attempt that probed a part has found it there: two waiting jobs may go on, and after five such attempts, or when none
 * waits any more, all (docs/outages.md). Does nothing if the part is not known to be down.
 */
export async function noteUp(db: Db, part: OutagePart): Promise<void> {
  const { rows } = await sql<{ successes: number }>`
    update provider_outage set successes = successes + 1, failed_probes = 0, admits = admits + ${afterSuccess}, probing_until = null
    where part = ${part} returning successes
  `.execute(db);
  if (!rows[0]) return;
  const release = (limit: number) => inTransaction(db, (trx) => releaseWaiting(trx, { part, limit }));
  const released = rows[0].successes < enough ? await release(afterSuccess) : 0;
  if (released === afterSuccess) return;
  // Committed before its jobs are looked for: should that take too long, the sweep finds them.
  await db.deleteFrom('provider_outage').where('part', '=', part).execute();
  await release(afterEnd);
}

/** Lets another probe of a part begin, since one has ended without having learned anything. */
export async function freeProbe(db: Db, part: OutagePart): Promise<void> {
  await db.updateTable('provider_outage').set({ probing_until: null }).where('part', '=', part).execute();
}

/** How long a part that nobody waits for, and nobody probes, is still taken for down. */
const forgottenMs = 600_000;

/**
 * Forgets what nobody waits for any more, and lets one waiting job of each other part look at it if it is time for a probe: the one that was
 * to look next may be gone.
 */
export async function sweepOutages(db: Db): Promise<void> {
  const last = sql`greatest(next_probe_at, probing_until)`;
  await sql`
    delete from provider_outage where ${last} < clock_timestamp() - ${interval(forgottenMs)}
      and not exists (select from job where status = 'queued' and waiting_since is not null and waits_for = part)
  `.execute(db);
  const { rows } = await sql<{
    part: OutagePart;
  }>`select part from provider_outage where ${last} <= clock_timestamp() order by part`.execute(db);
  for (const { part } of rows) await inTransaction(db, (trx) => releaseWaiting(trx, { part, limit: 1 }));
}

/** Ends an outage: attempts begin as ever, and waiting jobs go on. Returns whether there was one. */
export async function endOutage(trx: Transaction, actor: Actor, part: OutagePart): Promise<boolean> {
  const ended = await trx.deleteFrom('provider_outage').where('part', '=', part).returning(['cause', 'since']).executeTakeFirst();
  if (!ended) return false;
  await releaseWaiting(trx, { part, limit: afterEnd });
  await recordAudit(trx, actor, { organizationId: null, action: 'outage.end', targetId: part, metadata: ended });
  return true;
}
