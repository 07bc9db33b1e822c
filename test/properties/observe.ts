import { type RawBuilder, sql } from 'kysely';
import type { MoneyView } from './money-view.ts';
import type { Tenant } from './tenant.ts';

/** Beside the view, rows whose ids the service makes. */
export interface Observed extends MoneyView {
  jobRows: { id: string; retryOf: string | null }[];
  documentRows: string[];
}

/** Reads everything about an organization's money, through other connections than those of the service. */
export async function observe(tenant: Tenant): Promise<Observed> {
  const { service, organizationId, owner } = tenant;
  const list = (query: RawBuilder<unknown>) => sql`(select coalesce(json_agg(row), '[]') from (${query}) as row)`;
  const of = sql`where organization_id = ${organizationId}`;
  // Begins with `select`, so that Postgres plans it once.
  const { rows } = await sql<Record<string, any[]> & { plan: string | null }>`select
      ${list(sql`select id, status, attempts, credits, credit_month, retry_of from job ${of} order by id`)} as jobs,
      ${list(sql`select key, amount, month from credit_entry ${of}`)} as entries,
      ${list(sql`select month, used from credit_month ${of}`)} as months,
      ${list(sql`select id from open_search ${of} order by id`)} as searches,
      ${list(sql`select id, used_bytes from workspace ${of}`)} as workspaces,
      ${list(sql`select id from document ${of}`)} as documents,
      (select organization_plan(${organizationId}, dunning_days) from plan_limit limit 1) as plan
  `.execute(service.database.db);
  const row = rows[0];
  if (!row) throw new Error('there is nothing to observe');
  const usage = await service.call('organizations.usage', owner, { organizationId });
  const billing = await service.call('billing.status', owner, { organizationId });
  if (billing.subscription) delete billing.subscription.id;
  return {
    jobs: (row.jobs ?? [])
      .map((job) => [job.id, job.status, job.attempts, job.credits, job.credit_month, job.retry_of ?? '-'].join(' '))
      .sort(),
    ledger: (row.entries ?? []).map(({ key, amount, month }) => `${key} ${amount} ${month}`).sort(),
    months: Object.fromEntries((row.months ?? []).map(({ month, used }) => [month, used])),
    openSearches: (row.searches ?? []).map(({ id }) => id),
    bytes: Object.fromEntries((row.workspaces ?? []).map(({ id, used_bytes }) => [id, used_bytes])),
    planInSql: row.plan,
    usage,
    billing,
    jobRows: (row.jobs ?? []).map(({ id, retry_of }) => ({ id, retryOf: retry_of })),
    documentRows: (row.documents ?? []).map(({ id }) => id),
  };
}
