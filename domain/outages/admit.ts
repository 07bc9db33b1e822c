import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import type { OutagePart } from '../../db/schema.ts';
import type { JobHead } from '../jobs/job.ts';
import { type OutageTimes, partsOf } from './outage.ts';

/**
 * Whether an attempt may begin. `probes`: what it tries, of what is known to be down; none as a rule. Otherwise the part that the job waits
 * for, and the time at which it looks again.
 */
export type Admission = { probes: OutagePart[] } | { waitsFor: OutagePart; until: Date };

/**
 * Decides whether an attempt of a job may begin (docs/outages.md). Of what is down, a probe may begin when it is time for one, and as many
 * attempts as successes have admitted. Takes the locks of the outages, after that of the job.
 */
export async function admit(trx: Transaction, job: JobHead, { slotMs, leaseMs }: OutageTimes): Promise<Admission> {
  const down = await trx
    .selectFrom('provider_outage')
    .select(['part', sql<boolean>`admits > 0 or greatest(next_probe_at, probing_until) <= clock_timestamp()`.as('isOpen')])
    .where('part', 'in', await partsOf(trx, job))
    .orderBy('part')
    .forUpdate()
    .execute();
  const closed = down.find(({ isOpen }) => !isOpen);
  if (closed) return { waitsFor: closed.part, until: await takeSlot(trx, closed.part, slotMs) };
  const probes = down.map(({ part }) => part);
  if (probes.length > 0) {
    await sql`
      update provider_outage set admits = greatest(admits - 1, 0),
        probing_until = case when admits > 0 then probing_until else clock_timestamp() + ${interval(leaseMs)} end
      where part = any(${probes})
    `.execute(trx);
  }
  return { probes };
}

/** The time of the next place in the row of those that look again, from the next probe on. */
async function takeSlot(trx: Transaction, part: OutagePart, slotMs: number): Promise<Date> {
  const { rows } = await sql<{ slot: Date }>`
    update provider_outage set next_slot_at = greatest(next_slot_at, next_probe_at) + ${interval(slotMs)}
    where part = ${part} returning next_slot_at - ${interval(slotMs)} as slot
  `.execute(trx);
  return rows[0]?.slot ?? new Date();
}

/** An interval of SQL. */
export function interval(ms: number) {
  return sql`make_interval(secs => ${ms / 1_000})`;
}
