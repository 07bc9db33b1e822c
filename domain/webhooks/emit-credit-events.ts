import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import type { Plan } from '../billing/plan.ts';

/** The share of a month's credits that is left when the organization is told that they are low. */
const lowShare = 0.1;

export interface Spent {
  organizationId: string;
  /** The first day of the month. */
  month: string;
  /** What was charged now, and what the month has used with it. */
  credits: number;
  used: number;
}

/** Emits what a charge has crossed. Refunds may lead over a bound again: each is told once for a month and limit. */
export async function emitCreditEvents(trx: Transaction, { organizationId, month, credits, used }: Spent, plan: Plan): Promise<void> {
  const limit = plan.limits.aiCredits;
  const bounds = { 'credits.low': limit - Math.floor(limit * lowShare), 'credits.exhausted': limit };
  for (const [event, bound] of Object.entries(bounds)) {
    if (used < bound || used - credits >= bound) continue;
    const data = JSON.stringify({ month, used, limit, plan: plan.plan });
    await sql`select emit_webhook(${organizationId}, ${event}, ${`${event} ${month} ${limit}`}, ${data}::jsonb)`.execute(trx);
  }
}
