import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import type { Plan } from '../billing/plan.ts';

/** The fraction of a month's credits that is left when the organization is told that they are low. */
const lowFraction = 0.1;

interface Spent {
  organizationId: string;
  /** The first day of the month. */
  month: string;
  /** What the month has used, with what was charged now. */
  used: number;
}

/** Emits every bound that is reached: the event's id is that of a month and limit, so that each is told once, also after a downgrade. */
export async function emitCreditEvents(trx: Transaction, { organizationId, month, used }: Spent, plan: Plan): Promise<void> {
  const limit = plan.limits.aiCredits;
  const bounds = { 'credits.low': limit - Math.floor(limit * lowFraction), 'credits.exhausted': limit };
  for (const [event, bound] of Object.entries(bounds)) {
    if (used < bound) continue;
    const data = JSON.stringify({ month, used, limit, plan: plan.plan });
    await sql`select emit_webhook(${organizationId}, ${event}, ${`${event} ${month} ${limit}`}, ${data}::jsonb)`.execute(trx);
  }
}
