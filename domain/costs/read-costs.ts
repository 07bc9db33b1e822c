import { type RawBuilder, sql } from 'kysely';
import type { PriceTable } from '../../base/config/prices.ts';
import type { Db } from '../../db/connect.ts';
import type { Cursors, Page } from '../page.ts';

/** What the calls of a day are told apart by. */
type CostGrouping = 'organization' | 'workspace' | 'document' | 'job' | 'key' | 'model';

/** What providers did on one day (UTC) for one group; null stands for calls without one. */
interface DayOfCosts {
  day: string;
  group: string | null;
  calls: number;
  unreportedCalls: number;
  unpricedCalls: number;
  inputTokens: number;
  cachedInputTokens: number;
  outputTokens: number;
  /** In millionths of the currency; null if nothing of it is known. */
  knownCostMicros: number | null;
}

interface AskedCosts {
  organizationId: string;
  /** The first and the last day, `YYYY-MM-DD`. */
  from: string;
  to: string;
  by: CostGrouping;
  limit: number;
  cursor?: string | undefined;
}

const groups: Record<CostGrouping, RawBuilder<string | null>> = {
  organization: sql`organization_id`,
  workspace: sql`workspace_id`,
  document: sql`document_id`,
  job: sql`case when purpose = 'job' then purpose_id end`,
  key: sql`api_key_id`,
  model: sql`model`,
};

const priceRows = (prices: PriceTable['prices']) => sql`
  select *, lead("from", 1, 'infinity') over (partition by role, model order by "from") as until
  from jsonb_to_recordset(${JSON.stringify(prices)}::jsonb)
    as price (role text, model text, "from" date, input numeric, cached numeric, output numeric)`;

/** The sums of the calls of each day, role and model, and of each `group`: few rows to price, however many calls there are. */
const sumsOfDays = (group: RawBuilder<unknown>, which: RawBuilder<unknown>) => sql`
  select role, model, (created_at at time zone 'utc')::date as day, ${group} as "group", sum(calls) as calls,
    sum(unreported_calls) as unreported_calls, sum(input_tokens) as input_tokens, sum(cached_tokens) as cached_tokens,
    sum(output_tokens) as output_tokens
  from provider_call where ${which} group by 1, 2, 3, 4`;

const pricedSums = sql`sums left join price as valid
  on valid.role = sums.role and valid.model = sums.model and day >= "from" and day < until`;

/** Null if nothing of it is known. */
const knownCost = sql<number | null>`round(sum(
  (input_tokens - cached_tokens) * valid.input + cached_tokens * valid.cached + output_tokens * valid.output
) filter (where calls > unreported_calls) / 1000000)::bigint`;

/**
 * The known cost of a workspace's calls in this month (UTC), without those of a re-embedding, which its members have not asked for, as a
 * term of SQL, which is read only where it is needed.
 */
export function costOfMonth(prices: PriceTable['prices'], workspaceId: string): RawBuilder<number> {
  const ofMonth = sql`workspace_id = ${workspaceId} and created_at >= (select date_trunc('month', now(), 'utc')) and purpose <> 'reindex'`;
  return sql`(
    with price as materialized (${priceRows(prices)}), sums as (${sumsOfDays(sql`null`, ofMonth)})
    select coalesce(${knownCost}, 0) from ${pricedSums}
  )`;
}

/**
 * Adds up what providers did for an organization by day, the newest day first, at the prices of the days. Amounts are whole numbers until
 * each sum is rounded once. What has no price is counted, never guessed. Throws BAD_REQUEST for a cursor of another list.
 */
export async function readCosts(db: Db, cursors: Cursors, prices: PriceTable['prices'], asked: AskedCosts): Promise<Page<DayOfCosts>> {
  const { organizationId, from, by, limit } = asked;
  const scope = `costs:${organizationId}:${by}`;
  const after = asked.cursor === undefined ? null : readPosition(cursors.decodeText(scope, asked.cursor).at);
  // A page that goes on reads no calls of the days before it.
  const to = after ? after.day : asked.to;
  const ofDays = sql`organization_id = ${organizationId}
    and created_at >= ${from}::date::timestamp at time zone 'utc' and created_at < (${to}::date + 1)::timestamp at time zone 'utc'`;
  const { rows } = await sql<DayOfCosts>`
    with price as materialized (${priceRows(prices)}), sums as (${sumsOfDays(groups[by], ofDays)}), summed as (
      select to_char(day, 'YYYY-MM-DD') as day, "group",
        sum(calls)::bigint as calls, sum(unreported_calls)::bigint as "unreportedCalls",
        sum(case when valid.input is null then calls - unreported_calls else 0 end)::bigint as "unpricedCalls",
        sum(input_tokens)::bigint as "inputTokens", sum(cached_tokens)::bigint as "cachedInputTokens",
        sum(output_tokens)::bigint as "outputTokens",
        ${knownCost} as "knownCostMicros"
      from ${pricedSums}
      group by 1, 2
    )
    select * from summed where ${after ? isAfter(after) : sql`true`}
    order by day desc, "group" nulls last limit ${limit + 1}
  `.execute(db);
  const items = rows.slice(0, limit);
  const last = rows.length > limit ? items.at(-1) : undefined;
  return { items, nextCursor: last ? cursors.encode(scope, { at: `${last.day} ${last.group ?? ''}`, id: '' }) : null };
}

type Position = Pick<DayOfCosts, 'day' | 'group'>;

/** Reads the `at` of a cursor: a day, a blank, and the group unless it is null. */
function readPosition(at: string): Position {
  return { day: at.slice(0, 10), group: at.slice(11) || null };
}

function isAfter({ day, group }: Position): RawBuilder<boolean> {
  return sql`(day < ${day} or day = ${day} and ${group}::text is not null and ("group" > ${group} or "group" is null))`;
}
