import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import type { Plan } from '../billing/plan.ts';

/** The fraction of a month's credits that is left when the event for low credits is emitted. */
const lowFraction = 0.1;

interface Spent {
  organizationId: string;
  /** The first day of the month. */
  month: string;
  /** The credits of the month that are used, with the present charge. */
  used: number;
}

/**
 * Emits an event for every bound that a charge reaches. Its id names month and limit, so that each is emitted once. If a downgrade puts the
 * limit below what is used, nothing is charged any more, and nothing emitted.
 */
export async function emitCreditEvents(trx: Transaction, { organizationId, month, used }: Spent, plan: Plan): Promise<void> {
  const limit = plan.limits.aiCredits;
  const bounds = { 'credits.low': limit - Math.floor(limit * lowFraction), 'credits.exhausted': limit };
  for (const [event, bound] of Object.entries(bounds)) {
    if (used < bound) continue;
    const data = JSON.stringify({ month, used, limit, plan: plan.plan });
    await sql`select emit_webhook(${organizationId}, ${event}, ${`${event} ${month} ${limit}`}, ${data}::jsonb)`.execute(trx);
  }
}
