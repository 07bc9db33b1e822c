import { type Selectable, sql } from 'kysely';
import { ApiError } from '../../contract/api-error.ts';
import type { PlanLimits, PlanName } from '../../contract/fields.ts';
import type { Db, Transaction } from '../../db/connect.ts';
import type { PlanOverrideTable } from '../../db/schema.ts';
import { inTransaction } from '../../db/transaction.ts';
import { type Actor, recordAudit } from '../audit.ts';
import { lockOrganization } from '../locks.ts';
import { emitCreditEventsOfPlan } from '../webhooks/emit-credit-events.ts';
import type { GetPlan } from './plan.ts';

export type PlanOverrideRow = Selectable<PlanOverrideTable>;

interface Override {
  organizationId: string;
  /** Undefined leaves the plan that is paid for. */
  plan?: PlanName | undefined;
  /** Limits in place of those of the plan. */
  limits?: { [K in keyof PlanLimits]?: number | undefined } | undefined;
  until: string;
  reason: string;
}

/**
 * Gives an organization a plan or limits by hand, in place of those that it had by hand. They end by themselves, and no subscription
 * changes them. Throws NOT_FOUND if it is gone or being deleted, BAD_REQUEST if nothing is given or the end has passed.
 */
export async function overridePlan(trx: Transaction, actor: Actor, { organizationId, ...given }: Override): Promise<PlanOverrideRow> {
  await lockOrganization(trx, organizationId);
  const { plan, limits = {}, until, reason } = given;
  if (plan === undefined && Object.keys(limits).length === 0) throw wrong('plan', 'Give a plan, or limits.');
  const values = { plan: plan ?? null, limits: JSON.stringify(limits), until: new Date(until), reason };
  const override = await trx
    .insertInto('plan_override')
    .values({ organization_id: organizationId, ...values })
    .onConflict((conflict) => conflict.column('organization_id').doUpdateSet(values))
    .returningAll()
    .returning(sql<boolean>`until <= now()`.as('is_over'))
    .executeTakeFirstOrThrow();
  if (override.is_over) throw wrong('until', 'must be in the future');
  await recordAudit(trx, actor, { organizationId, action: 'organization.overridePlan', targetId: organizationId, metadata: given });
  return override;
}

/** Ends what was given by hand, as its time would, so that webhooks are told of it, too. Throws NOT_FOUND if there is nothing. */
export async function endPlanOverride(trx: Transaction, actor: Actor, organizationId: string): Promise<void> {
  await lockOrganization(trx, organizationId);
  const override = await trx
    .updateTable('plan_override')
    // The column holds milliseconds. Rounded up, it would not have ended for the rest of this transaction.
    .set({ until: sql`date_trunc('milliseconds', now())` })
    .where('organization_id', '=', organizationId)
    .where('until', '>', sql<Date>`now()`)
    .returning('reason')
    .executeTakeFirst();
  if (!override) throw new ApiError('NOT_FOUND', { message: 'This organization has no plan or limits by hand.' });
  await recordAudit(trx, actor, { organizationId, action: 'organization.endPlanOverride', targetId: organizationId, metadata: override });
}

/** Tells webhooks of credits that are used up by a plan or limits by hand, or by their end. Repeating it tells nothing twice. */
export async function tellOfOverrides(db: Db, getPlan: GetPlan): Promise<void> {
  const given = await db.selectFrom('plan_override').select('organization_id as id').execute();
  for (const { id } of given) await inTransaction(db, async (trx) => emitCreditEventsOfPlan(trx, id, await getPlan(trx, id)));
}

function wrong(field: string, message: string): ApiError {
  return new ApiError('BAD_REQUEST', { message: `${field}: ${message}`, data: { issues: [{ path: [field], message }] } });
}
