import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { openCredits } from './open-charge.ts';

/** The columns by which the credits of a day are grouped. */
type UsageGrouping = 'kind' | 'workspace' | 'key';

/** The credits of one day (UTC) and one kind, workspace or key; null stands for charges without one. */
interface DayOfUsage {
  day: string;
  group: string | null;
  charged: number;
  refunded: number;
}

interface AskedUsage {
  organizationId: string;
  /** The first and the last day, `YYYY-MM-DD`. */
  from: string;
  to: string;
  by: UsageGrouping;
  limit: number;
}

/** A refund belongs to the group of its charge. Charges of users have no key. */
const groups: Record<UsageGrouping, RawBuilder<string | null>> = {
  kind: sql`case when amount > 0 then reason
    else (select charge.reason from credit_entry as charge where charge.key = replace(credit_entry.key, ':refund', ':charge')) end`,
  workspace: sql`workspace_id`,
  key: sql`substring(actor_id from '^key_.*')`,
};

/** Adds up the entries of the ledger by day, the newest day first. */
export async function readUsageHistory(db: Db, { organizationId, from, to, by, limit }: AskedUsage): Promise<DayOfUsage[]> {
  const { rows } = await sql<DayOfUsage>`
    with entry as (
      select to_char(created_at at time zone 'utc', 'YYYY-MM-DD') as day, ${groups[by]} as "group", amount
      from credit_entry
      where organization_id = ${organizationId}
        and created_at >= ${from}::date::timestamp at time zone 'utc' and created_at < (${to}::date + 1)::timestamp at time zone 'utc'
    )
    select day, "group", sum(greatest(amount, 0)) as charged, sum(greatest(-amount, 0)) as refunded
    from entry group by day, "group" order by day desc, "group" limit ${limit}
  `.execute(db);
  return rows;
}

/** The credits that unfinished jobs, searches and answers hold: they are charged, and given back if those fail. */
export async function readHeldCredits(db: Db, organizationId: string): Promise<number> {
  const { rows } = await sql<{ credits: number }>`
    select (select coalesce(sum(credits), 0) from job where organization_id = ${organizationId} and status in ('queued', 'running'))
      + ${openCredits(organizationId)} as credits
  `.execute(db);
  return rows[0]?.credits ?? 0;
}
