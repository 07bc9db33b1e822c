import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import type { Plan } from '../billing/plan.ts';
import { thisMonth } from '../credits/budgets.ts';

/** The fraction of a month's credits that is left when the event for low credits is emitted. */
const lowFraction = 0.1;

interface Spent {
  organizationId: string;
  /** The first day of the month. */
  month: string;
  /** The credits of the month that are used. */
  used: number;
}

/**
 * Emits an event for every bound that is reached, by a charge or a smaller plan. Its id names month and limit, so that each is emitted once.
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

/** Does the same after the plan may have changed: with a smaller one the credits may be used up already, and nothing is charged any more. */
export async function emitCreditEventsOfPlan(trx: Transaction, organizationId: string, plan: Plan | null): Promise<void> {
  const spent = await trx
    .selectFrom('credit_month')
    .select(['month', 'used'])
    .where('organization_id', '=', organizationId)
    .where('month', '=', thisMonth)
    .executeTakeFirst();
  if (plan && spent) await emitCreditEvents(trx, { organizationId, ...spent }, plan);
}
