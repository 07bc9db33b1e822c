import { type RawBuilder, sql } from 'kysely';
import { addFact } from '../../db/add-fact.ts';
import type { Db, Transaction } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { GetPlan } from '../billing/plan.ts';
import { newId } from '../ids.ts';
import { lockOrganization } from '../locks.ts';
import { refuseSuspended } from '../organizations/suspension.ts';
import { refuseReadOnly } from '../platform/read-only.ts';
import { type Charge, chargeCredits } from './ledger.ts';

/** The purposes for which requests are charged before they wait for the AI service, each with its table of open charges. */
const purposes = {
  search: { table: 'open_search', reason: 'documents.search', credits: 1 },
  answer: { table: 'open_answer', reason: 'documents.ask', credits: 3 },
} as const;

export type OpenPurpose = keyof typeof purposes;

/** The AI credits that an answer costs, whoever writes it. Its search is included. */
export const creditsPerAnswer: number = purposes.answer.credits;

/** Much longer than a request takes: if a charge is still open after this time, its process has died. */
const lostAfterMinutes = 10;

/**
 * Charges the organization before the AI service is asked, and returns the charge's id. The charge stays open until {@link settleCharge} or
 * {@link refundCharge}. Throws LIMIT_REACHED without credits, ORGANIZATION_SUSPENDED, and NOT_FOUND if the organization is gone
 * or being deleted.
 */
export async function openCharge(
  db: Db,
  getPlan: GetPlan,
  purpose: OpenPurpose,
  { id = newId(), ...place }: Pick<Charge, 'organizationId' | 'workspaceId' | 'actorId'> & { id?: string | undefined },
): Promise<string> {
  const { table, credits, reason } = purposes[purpose];
  const { organizationId } = place;
  await inTransaction(db, async (trx) => {
    await lockOrganization(trx, organizationId);
    await refuseReadOnly(trx);
    await refuseSuspended(trx, organizationId);
    const charge = { ...place, key: `${purpose}:${id}:charge`, credits, jobId: null, reason };
    const month = await chargeCredits(trx, charge, await getPlan(trx, organizationId), getPlan.prices);
    await trx.insertInto(table).values({ id, organization_id: organizationId, month }).execute();
  });
  return id;
}

/** The sum of the open charges of an organization, as a term of SQL. */
export function openCredits(organizationId: string): RawBuilder<number> {
  const terms = Object.values(purposes).map(
    ({ table, credits }) => sql`(select count(*) from ${sql.table(table)} where organization_id = ${organizationId}) * ${sql.lit(credits)}`,
  );
  return sql`${sql.join(terms, sql` + `)}`;
}

/** Settles the charge of a request that succeeded, so that it is not refunded. */
export async function settleCharge(db: Db | Transaction, purpose: OpenPurpose, id: string): Promise<void> {
  await db.deleteFrom(purposes[purpose].table).where('id', '=', id).execute();
}

/** Gives back the credits of a charge that is open; the ledger keeps the reason. A second refund changes nothing. */
export async function refundCharge(db: Db | Transaction, purpose: OpenPurpose, id: string, reason = 'failed'): Promise<void> {
  await refundOpen(db, purpose, sql`id = ${id}`, reason);
}

/**
 * Gives back the credits of at most `limit` requests of each purpose whose process died, and returns how many. One that succeeded, but
 * whose process died or lost the database before it was settled, is free.
 */
export async function refundLostCharges(db: Db, limit: number): Promise<number> {
  const isLost = sql`charged_at < now() - make_interval(mins => ${lostAfterMinutes})`;
  let refunds = 0;
  for (const purpose of Object.keys(purposes) as OpenPurpose[]) {
    const lost = sql`id in (select id from ${sql.table(purposes[purpose].table)} where ${isLost} order by charged_at limit ${limit})`;
    refunds += await refundOpen(db, purpose, lost, 'lost');
  }
  return refunds;
}

/** This is one statement, so that a refunded charge is never still open (docs/rules.md, ledger). */
async function refundOpen(db: Db | Transaction, purpose: OpenPurpose, which: RawBuilder<unknown>, reason: string): Promise<number> {
  const { table, credits } = purposes[purpose];
  const { rows } = await sql<{ refunds: number }>`
    with ended as (
      delete from ${sql.table(table)} where ${which} returning id, organization_id, month
    ), refunded as (
      insert into credit_entry (organization_id, key, amount, month, reason)
      select organization_id, ${`${purpose}:`} || id || ':refund', ${-credits}::int, month, ${reason} from ended
      on conflict (key) do nothing
      returning organization_id, month, amount
    ), counted as (
      update credit_month set used = used + sums.amount
      from (select organization_id, month, sum(amount) as amount from refunded group by organization_id, month) as sums
      where credit_month.organization_id = sums.organization_id and credit_month.month = sums.month
    )
    select count(*) as refunds from refunded
  `.execute(db);
  const refunds = rows[0]?.refunds ?? 0;
  if (refunds > 0) addFact(db, { what: 'credits refunded', purpose, credits: refunds * credits });
  return refunds;
}
