import { type RawBuilder, sql } from 'kysely';
import type { Db, Transaction } from '../../db/connect.ts';
import { firstChunking } from '../chunking/chunking.ts';
import type { ReindexScope } from './find-behind.ts';

const documentsPerStatement = 500;

/** Which documents to note: those of a workspace, of an organization, or all. Ends with the signal's reason if that aborts. */
export interface Notable extends ReindexScope {
  signal?: AbortSignal;
}

/** Whether the index of a document is not noted, or an earlier one is; `document_index` is joined to it if there is any. */
const isUnnoted = sql`chunk_count > 0 and document.indexed_at is not null and document_index.indexed_at is distinct from document.indexed_at`;

/**
 * Notes with what documents are indexed that were indexed before it was noted, or by an older version while it still runs. Documents that
 * are being deleted are left to the next call. Returns how many it were.
 */
export async function noteIndexKinds(db: Db, { signal, ...scope }: Notable = {}): Promise<number> {
  let noted = 0;
  for (let after = ''; ; ) {
    signal?.throwIfAborted();
    const { rows } = await sql<{ id: string }>`
      with document as ${documentsOf(scope)}
      select document.id from document left join document_index on document_index.document_id = document.id
      where document.id > ${after} and ${isUnnoted} order by document.id limit ${documentsPerStatement}
    `.execute(db);
    const ids = rows.map(({ id }) => id);
    if (ids.length > 0) noted += await note(db, ids);
    const last = ids.at(-1);
    if (last === undefined || ids.length < documentsPerStatement) return noted;
    after = last;
  }
}

/** Postgres would look for the few of a scope among all, in the order of their ids, if it were not told to read them first. */
function documentsOf({ workspaceId, organizationId }: ReindexScope): RawBuilder<unknown> {
  const columns = sql`select id, indexed_at, chunk_count from document`;
  const conditions: RawBuilder<unknown>[] = [];
  if (workspaceId !== undefined) conditions.push(sql`workspace_id = ${workspaceId}`);
  if (organizationId !== undefined) conditions.push(sql`organization_id = ${organizationId}`);
  if (conditions.length === 0) return sql`not materialized (${columns})`;
  return sql`materialized (${columns} where ${sql.join(conditions, sql` and `)})`;
}

/** Of how many documents of a workspace it is not noted with what they are indexed. */
export async function countUnnoted(trx: Transaction, workspaceId: string): Promise<number> {
  const { rows } = await sql<{ unnoted: number }>`
    select count(*)::int as unnoted from document left join document_index on document_index.document_id = document.id
    where document.workspace_id = ${workspaceId} and ${isUnnoted}
  `.execute(trx);
  return rows[0]?.unnoted ?? 0;
}

/** An index that was noted while the chunks of an earlier one were read stays noted. */
async function note(db: Db, ids: string[]): Promise<number> {
  const { numAffectedRows } = await sql`
    insert into document_index (document_id, organization_id, workspace_id, indexed_at, model, dimensions, chunking)
    select document.id, document.organization_id, document.workspace_id, document.indexed_at, chunk.model, cardinality(chunk.embedding), ${firstChunking}
    from (select * from document where id = any(${ids}::text[]) for key share skip locked) as document
    cross join lateral (select model, embedding from chunk where chunk.document_id = document.id order by index limit 1) as chunk
    where document.indexed_at is not null
    on conflict (document_id) do update set
      indexed_at = excluded.indexed_at, model = excluded.model, dimensions = excluded.dimensions, chunking = excluded.chunking
    where document_index.indexed_at < excluded.indexed_at
  `.execute(db);
  return Number(numAffectedRows ?? 0);
}
