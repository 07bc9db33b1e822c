import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../db/connect.ts';

/** A contradiction within the ledger, or between the ledger and the jobs, about one job or one month of an organization. */
interface LedgerProblem {
  organization_id: string;
  job_id: string | null;
  /** First day of the month that the entries count against. */
  month: string | null;
  problem: LedgerProblemKind;
  /** The credits that should be there; `found` are those that are. */
  expected: number;
  found: number;
}

type LedgerProblemKind =
  /** A job's charge is missing, or has another amount, month or organization. */
  | 'charge'
  /** A failed or canceled job has no refund, another one has a refund, or a refund has another amount or month. */
  | 'refund'
  /** A refund of a job or a search without its charge; the job itself may be gone. */
  | 'refund_without_charge'
  /** A month's counter is not the sum of its entries. */
  | 'month';

interface CheckOptions {
  /** Checks one organization; all if absent. */
  organizationId?: string | undefined;
  limit?: number;
  /** How many rows one statement looks at. */
  sliceSize?: number;
  /** Ends the check between two slices. */
  signal?: AbortSignal;
}

/**
 * Compares the credit ledger with the existing jobs, and the counters of the months with the ledger (docs/rules.md, ledger). Returns at
 * most `limit` problems; none for a sound database. Reads every entry, a slice at a time. Rows of one transaction are compared in one
 * statement, so concurrent changes are no problems. Leaves out organizations that are being deleted, since theirs go in slices.
 */
export async function checkLedger(
  db: Db,
  { organizationId, limit = 1_000, sliceSize = 5_000, signal }: CheckOptions = {},
): Promise<LedgerProblem[]> {
  const problems = new Map<string, LedgerProblem>();
  for (const check of [checkJobs, checkEntries, checkMonths]) {
    for await (const found of check(db, { organizationId, sliceSize })) {
      signal?.throwIfAborted();
      for (const problem of found) {
        problems.set(JSON.stringify(problem), problem);
        if (problems.size >= limit) return [...problems.values()];
      }
    }
  }
  return [...problems.values()];
}

/** How much {@link checkLedger} compares. */
export async function countLedger(db: Db, organizationId?: string): Promise<{ jobs: number; entries: number; months: number }> {
  const count = (table: string) => sql`(select count(*) from ${sql.table(table)}
    where ${isKept(sql.ref('organization_id'))} ${organizationId === undefined ? sql`` : sql`and organization_id = ${organizationId}`})`;
  const { rows } = await sql<{ jobs: number; entries: number; months: number }>`
    select ${count('job')} as jobs, ${count('credit_entry')} as entries, ${count('credit_month')} as months
  `.execute(db);
  return rows[0] ?? { jobs: 0, entries: 0, months: 0 };
}

function isKept(organizationId: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`not exists (select from organization_deletion where organization_deletion.organization_id = ${organizationId})`;
}

interface Slices {
  organizationId: string | undefined;
  sliceSize: number;
}

/** Checks that each job has its charge, and its refund if it failed or was canceled, in the right month and organization. */
async function* checkJobs(db: Db, { organizationId, sliceSize }: Slices): AsyncGenerator<LedgerProblem[]> {
  // An index orders all jobs by id, and those of an organization by time.
  const order = organizationId === undefined ? sql`id` : sql`created_at, id`;
  for (let after: JobPosition | undefined; ; ) {
    const slice = sql`
      select id, created_at, organization_id, credit_month, credits, case when status in ('failed', 'canceled') then -credits else 0 end as refund
      from job where ${organizationId === undefined ? sql`true` : sql`organization_id = ${organizationId}`} and ${isAfter(after, organizationId)}
      order by ${order} limit ${sliceSize}
    `;
    const last: JobPosition | undefined = await findLast<JobPosition>(db, sql`select id, created_at from (${slice}) as slice`, sliceSize);
    const { rows } = await sql<LedgerProblem>`
      with compared as (
        select slice.*, ${amountOf('charge')} as charged, ${amountOf('refund')} as refunded from (${slice}) as slice
      )
      select organization_id, id as job_id, credit_month as month, 'charge' as problem, credits::bigint as expected, charged::bigint as found
        from compared where charged <> credits and ${isKept(sql`compared.organization_id`)}
      union all
      select organization_id, id, credit_month, 'refund', refund::bigint, refunded::bigint
        from compared where refunded <> refund and ${isKept(sql`compared.organization_id`)}
    `.execute(db);
    yield rows;
    if (!last) return;
    after = last;
  }
}

/** This is a look-up for each job, because a join could read the whole ledger for each slice. */
function amountOf(entry: 'charge' | 'refund'): RawBuilder<number> {
  return sql`coalesce((
    select amount from credit_entry
    where key = 'job:' || slice.id || ${sql.lit(`:${entry}`)} and month = slice.credit_month and organization_id = slice.organization_id
  ), 0)`;
}

interface JobPosition {
  id: string;
  created_at: Date;
}

function isAfter(after: JobPosition | undefined, organizationId: string | undefined): RawBuilder<unknown> {
  if (!after) return sql`true`;
  if (organizationId === undefined) return sql`id > ${after.id}`;
  return sql`(created_at, id) > (${after.created_at}, ${after.id})`;
}

/** The last row of a slice; undefined if the slice is the last one. */
async function findLast<Row>(db: Db, slice: RawBuilder<unknown>, sliceSize: number): Promise<Row | undefined> {
  const { rows } = await sql<Row>`select * from (${slice}) as slice offset ${sliceSize - 1} limit 1`.execute(db);
  return rows[0];
}

/** Checks that each refund has its charge, and each entry a counter of its month. */
async function* checkEntries(db: Db, { organizationId, sliceSize }: Slices): AsyncGenerator<LedgerProblem[]> {
  for await (const entries of sliceEntries(db, { organizationId, sliceSize })) {
    const { rows } = await sql<LedgerProblem>`
      with entry as (select * from credit_entry where ${entries})
      select organization_id, job_id, month, 'refund_without_charge' as problem, 0::bigint as expected, amount::bigint as found
        from entry
        where key like '%:refund' and (
          select count(*) from credit_entry as charge where charge.key = regexp_replace(entry.key, 'refund$', 'charge')
            and charge.organization_id = entry.organization_id and charge.month = entry.month and charge.amount = -entry.amount
        ) = 0 and ${isKept(sql`entry.organization_id`)}
      union all
      select organization_id, null, month, 'month', (
          select sum(amount) from credit_entry as other where other.organization_id = uncounted.organization_id and other.month = uncounted.month
        ), 0
        from (
          select organization_id, month from (select distinct organization_id, month from entry) as counted
          where (
            select count(*) from credit_month
            where credit_month.organization_id = counted.organization_id and credit_month.month = counted.month
          ) = 0
        ) as uncounted
        where exists (
          select from credit_entry as other where other.organization_id = uncounted.organization_id and other.month = uncounted.month
          having sum(amount) <> 0
        ) and ${isKept(sql`uncounted.organization_id`)}
    `.execute(db);
    yield rows;
  }
}

/** Conditions that together match all entries: ranges of their ids, or lists of the ids of an organization's entries. */
async function* sliceEntries(db: Db, { organizationId, sliceSize }: Slices): AsyncGenerator<RawBuilder<unknown>> {
  if (organizationId !== undefined) {
    const { rows } = await sql<{ month: string }>`
      select distinct month from credit_entry where organization_id = ${organizationId}
    `.execute(db);
    for (const { month } of rows) yield* sliceMonth(db, { organizationId, month, sliceSize });
    return;
  }
  const { rows } = await sql<{ first: number | null; last: number | null }>`
    select min(id) as first, max(id) as last from credit_entry
  `.execute(db);
  const { first, last } = rows[0] ?? { first: null, last: null };
  if (first === null || last === null) return;
  for (let from = first; from <= last; from += sliceSize) yield sql`id >= ${from} and id < ${from + sliceSize}`;
}

/** The index of a month is not ordered by id, so ids are read for many slices at once. */
const slicesPerRead = 10;

async function* sliceMonth(
  db: Db,
  { organizationId, month, sliceSize }: { organizationId: string; month: string; sliceSize: number },
): AsyncGenerator<RawBuilder<unknown>> {
  const idsPerRead = sliceSize * slicesPerRead;
  for (let after = 0; ; ) {
    // `offset 0` keeps Postgres from going through all organizations' entries in the order of their ids.
    const { rows } = await sql<{ id: number }>`
      select id from (
        select id from credit_entry where organization_id = ${organizationId} and month = ${month}::date and id > ${after} offset 0
      ) as entry order by id limit ${idsPerRead}
    `.execute(db);
    const ids = rows.map(({ id }) => id);
    for (let start = 0; start < ids.length; start += sliceSize) yield sql`id = any(${ids.slice(start, start + sliceSize)}::bigint[])`;
    const last = ids.at(-1);
    if (last === undefined || ids.length < idsPerRead) return;
    after = last;
  }
}

/** Checks that each month's counter is the sum of its entries. */
async function* checkMonths(db: Db, { organizationId, sliceSize }: Slices): AsyncGenerator<LedgerProblem[]> {
  const monthsAtOnce = Math.max(1, Math.floor(sliceSize / 10));
  for (let after: { organization_id: string; month: string } | undefined; ; ) {
    const slice = sql`
      select organization_id, month, used from credit_month
      where ${organizationId === undefined ? sql`true` : sql`organization_id = ${organizationId}`}
        and ${after ? sql`(organization_id, month) > (${after.organization_id}, ${after.month}::date)` : sql`true`}
      order by organization_id, month limit ${monthsAtOnce}
    `;
    const last: typeof after = await findLast(db, sql`select organization_id, month from (${slice}) as slice`, monthsAtOnce);
    const { rows } = await sql<LedgerProblem>`
      select organization_id, null as job_id, month, 'month' as problem, total as expected, used as found from (
        select slice.*, coalesce((
          select sum(amount) from credit_entry as entry where entry.organization_id = slice.organization_id and entry.month = slice.month
        ), 0) as total
        from (${slice}) as slice
      ) as summed
      where total <> used and ${isKept(sql`summed.organization_id`)}
    `.execute(db);
    yield rows;
    if (!last) return;
    after = last;
  }
}
