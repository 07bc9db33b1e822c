import { type RawBuilder, sql } from 'kysely';
import type { RetentionKind } from '../../contract/workspaces.ts';
import type { Db, Transaction } from '../../db/connect.ts';

/** A day has 24 hours, as for all that is kept for days. */
const cutoff = (days: number) => sql`now() - make_interval(hours => ${24 * days})`;

/** Where rows of a kind are, and the time that their days count from. Each is found by an index. */
const kinds: Record<RetentionKind, { table: string; time: string; order: string; only: RawBuilder<unknown> }> = {
  documents: { table: 'document', time: 'created_at', order: 'created_at', only: sql`status = 'ready'` },
  texts: { table: 'document', time: 'extracted_at', order: 'extracted_at', only: sql`extracted_at is not null` },
  // A job that has not ended has no such time.
  jobs: { table: 'job', time: 'finished_at', order: 'created_at', only: sql`true` },
};

function dueRows(workspaceId: string, kind: RetentionKind, days: number) {
  const { table, time, order, only } = kinds[kind];
  return sql`from ${sql.table(table)}
    where workspace_id = ${workspaceId} and ${sql.ref(order)} < ${cutoff(days)} and ${sql.ref(time)} < ${cutoff(days)} and ${only}`;
}

/** The position of a row that is due. */
export interface DueRow {
  id: string;
  at: Date;
}

/** The rows of a workspace that it has kept for more than so many days, the oldest first, after one of them. */
export async function listDue(
  db: Db | Transaction,
  {
    workspaceId,
    kind,
    days,
    after,
    limit,
  }: { workspaceId: string; kind: RetentionKind; days: number; after?: DueRow | undefined; limit: number },
): Promise<DueRow[]> {
  const at = sql.ref(kinds[kind].order);
  const { rows } = await sql<DueRow>`
    select id, ${at} as at ${dueRows(workspaceId, kind, days)}
      and (${at}, id) > (coalesce(${after?.at}::timestamptz, '-infinity'), ${after?.id ?? ''})
    order by ${at}, id limit ${limit}
  `.execute(db);
  return rows;
}

/** How many there are, and the time of the oldest. */
export async function countDue(
  db: Db,
  { workspaceId, kind, days }: { workspaceId: string; kind: RetentionKind; days: number },
): Promise<{ count: number; oldest: Date | null }> {
  const { rows } = await sql<{ count: number; oldest: Date | null }>`
    select count(*) as count, min(${sql.ref(kinds[kind].time)}) as oldest ${dueRows(workspaceId, kind, days)}
  `.execute(db);
  return rows[0] ?? { count: 0, oldest: null };
}
