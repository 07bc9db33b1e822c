import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';

/** What an organization uses of its plan. `period` is the current calendar month (UTC), in which the credits count. */
export interface Usage {
  workspaces: number;
  members: number;
  pendingInvitations: number;
  aiCredits: number;
  period: { start: Date; end: Date };
}

/** Counts what an organization uses. A pending invitation counts while it can be accepted. */
export async function getUsage(db: Db, organizationId: string): Promise<Usage> {
  const { rows } = await sql<Omit<Usage, 'period'> & { start: Date; end: Date }>`
    with month as (select date_trunc('month', now() at time zone 'utc') as start)
    select
      (select count(*) from workspace where organization_id = ${organizationId}) as workspaces,
      (select count(*) from member where "organizationId" = ${organizationId}) as members,
      (select count(*) from invitation
        where "organizationId" = ${organizationId} and status = 'pending' and holds_seat(invitation)) as "pendingInvitations",
      coalesce((select used from credit_month
        where organization_id = ${organizationId} and credit_month.month = month.start::date), 0) as "aiCredits",
      month.start at time zone 'utc' as start,
      (month.start + interval '1 month') at time zone 'utc' as end
    from month
  `.execute(db);
  const [row] = rows;
  if (!row) throw new Error('the usage query returned no row');
  const { start, end, ...usage } = row;
  return { ...usage, period: { start, end } };
}
