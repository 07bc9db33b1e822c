import { type RawBuilder, sql } from 'kysely';
import { addFact } from '../../db/add-fact.ts';
import type { Db } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { GetPlan } from '../billing/plan.ts';
import { newId } from '../ids.ts';
import { lockOrganization } from '../locks.ts';
import { type Charge, chargeCredits } from './ledger.ts';

const creditsPerSearch = 1;

/** Much longer than a search takes: if one is still open after this time, its process has died. */
const lostAfterMinutes = 10;

/**
 * Charges the organization for a search before the query is embedded, and returns the search's id. The charge stays open until
 * {@link settleSearch} or {@link refundSearch}. Throws LIMIT_REACHED without credits, NOT_FOUND if the organization is gone or being deleted.
 */
export async function chargeSearch(
  db: Db,
  getPlan: GetPlan,
  organizationId: string,
  place: Pick<Charge, 'workspaceId' | 'actorId'> = {},
): Promise<string> {
  const id = newId();
  await inTransaction(db, async (trx) => {
    await lockOrganization(trx, organizationId);
    const charge = {
      ...place,
      organizationId,
      key: `search:${id}:charge`,
      credits: creditsPerSearch,
      jobId: null,
      reason: 'documents.search',
    };
    const month = await chargeCredits(trx, charge, await getPlan(trx, organizationId));
    await trx.insertInto('open_search').values({ id, organization_id: organizationId, month }).execute();
  });
  return id;
}

/** Settles the charge of a search that succeeded, so that it is not refunded. */
export async function settleSearch(db: Db, searchId: string): Promise<void> {
  await db.deleteFrom('open_search').where('id', '=', searchId).execute();
}

/** Gives back the credit of a search that failed. A second refund changes nothing. */
export async function refundSearch(db: Db, searchId: string): Promise<void> {
  await refundOpen(db, sql`id = ${searchId}`, 'failed');
}

/**
 * Gives back the credits of at most `limit` searches whose process died, and returns how many. A search that succeeded, but whose
 * process died or lost the database before it settled it, is free.
 */
export async function refundLostSearches(db: Db, limit: number): Promise<number> {
  const isLost = sql`charged_at < now() - make_interval(mins => ${lostAfterMinutes})`;
  return await refundOpen(db, sql`id in (select id from open_search where ${isLost} order by charged_at limit ${limit})`, 'lost');
}

/** This is one statement, so that a refunded search is never open as well (docs/rules.md, ledger). */
async function refundOpen(db: Db, which: RawBuilder<unknown>, reason: string): Promise<number> {
  const { rows } = await sql<{ refunds: number }>`
    with ended as (
      delete from open_search where ${which} returning id, organization_id, month
    ), refunded as (
      insert into credit_entry (organization_id, key, amount, month, reason)
      select organization_id, 'search:' || id || ':refund', ${-creditsPerSearch}::int, month, ${reason} from ended
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
  if (refunds > 0) addFact(db, { what: 'credits refunded', purpose: 'search', credits: refunds * creditsPerSearch });
  return refunds;
}
