import { sql } from 'kysely';
import type { PlanLimits, PlanName } from '../../contract/fields.ts';
import type { Db } from '../../db/connect.ts';
import { byRelevance, isLive } from '../billing/live-subscription.ts';

/** An organization as a platform admin sees it in the list. */
export interface OrganizationSummaryRow {
  id: string;
  name: string;
  slug: string;
  created_at: Date;
  billing_customer_id: string | null;
  members: number;
  workspaces: number;
  plan: PlanName;
  subscription: SubscriptionSummary | null;
  /** Its time is an ISO date-time. */
  override: { plan: PlanName | null; limits: Partial<PlanLimits>; until: string; reason: string } | null;
  suspended_reason: string | null;
  suspended_since: Date | null;
}

/** It comes as JSON, so its times are ISO date-times. */
interface SubscriptionSummary {
  id: string;
  plan: string;
  status: string;
  seats: number | null;
  periodEnd: string | null;
  cancelAtPeriodEnd: boolean | null;
  stripeSubscriptionId: string | null;
  live: boolean;
}

interface OrganizationFilter {
  search?: string | undefined;
  limit: number;
  offset: number;
  /** The number of days for which a subscription that is past due keeps its plan. */
  dunningDays: number;
}

/** A page of the platform's organizations by name, and how many match. `search` is a part of a name or slug, in any case. */
export async function listOrganizations(
  db: Db,
  { search = '', limit, offset, dunningDays }: OrganizationFilter,
): Promise<{ items: OrganizationSummaryRow[]; total: number }> {
  const matches = search === '' ? sql`true` : sql`(strpos(lower(name), lower(${search})) > 0 or strpos(lower(slug), lower(${search})) > 0)`;
  const { rows } = await sql<OrganizationSummaryRow>`
    select page.id, page.name, page.slug, page."createdAt" as created_at, page."stripeCustomerId" as billing_customer_id,
      (select count(*) from member where "organizationId" = page.id) as members,
      (select count(*) from workspace where organization_id = page.id) as workspaces,
      organization_plan(page.id, ${dunningDays}) as plan,
      (select json_build_object('id', id, 'plan', plan, 'status', status, 'seats', seats, 'periodEnd', "periodEnd",
          'cancelAtPeriodEnd', "cancelAtPeriodEnd", 'stripeSubscriptionId', "stripeSubscriptionId", 'live', ${isLive})
        from subscription where "referenceId" = page.id order by ${byRelevance} limit 1) as subscription,
      (select json_build_object('plan', o.plan, 'limits', limits, 'until', until, 'reason', o.reason)
        from plan_override as o where o.organization_id = page.id and until > now()) as override,
      suspension.reason as suspended_reason, suspension.since as suspended_since
    from (select * from organization where ${matches} order by lower(name), id limit ${limit} offset ${offset}) as page
    left join organization_suspension as suspension on suspension.organization_id = page.id
    order by lower(page.name), page.id
  `.execute(db);
  const counted = await sql<{ total: number }>`select count(*) as total from organization where ${matches}`.execute(db);
  return { items: rows, total: counted.rows[0]?.total ?? 0 };
}
