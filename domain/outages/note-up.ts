import { sql } from 'kysely';
import type { Db, Transaction } from '../../db/connect.ts';
import type { OutagePart } from '../../db/schema.ts';
import { inTransaction } from '../../db/transaction.ts';
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
  await inTransaction(db, async (trx) => {
    const { rows } = await sql<{ successes: number }>`
      update provider_outage set successes = successes + 1, admits = admits + ${afterSuccess}, probing_until = null
      where part = ${part} returning successes
    `.execute(trx);
    if (!rows[0]) return;
    const released = rows[0].successes < enough ? await releaseWaiting(trx, { part, limit: afterSuccess }) : 0;
    if (released < afterSuccess) await endOutage(trx, part);
  });
}

/** Lets another probe of these parts begin, since one has ended without having learned anything. */
export async function freeProbes(db: Db, parts: OutagePart[]): Promise<void> {
  if (parts.length === 0) return;
  await db.updateTable('provider_outage').set({ probing_until: null }).where('part', 'in', parts).execute();
}

/** Ends an outage: attempts begin as ever, and waiting jobs go on. Returns whether there was one. */
export async function endOutage(trx: Transaction, part: OutagePart): Promise<boolean> {
  const ended = await trx.deleteFrom('provider_outage').where('part', '=', part).returning('part').executeTakeFirst();
  if (ended) await releaseWaiting(trx, { part, limit: afterEnd });
  return ended !== undefined;
}
