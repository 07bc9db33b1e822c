import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { firstChunking } from '../chunks/split-text.ts';

const documentsPerStatement = 500;

/**
 * Notes with what documents are indexed that were indexed before it was noted, or by an older version while it still runs. Documents that
 * are in use are left to the next call. Returns how many it were. Throws the signal's reason if it aborts.
 */
export async function noteIndexKinds(db: Db, signal?: AbortSignal): Promise<number> {
  let noted = 0;
  for (let after = ''; ; ) {
    signal?.throwIfAborted();
    const { rows } = await sql<{ id: string }>`
      select document.id from document left join document_index on document_index.document_id = document.id
      where document.id > ${after} and chunk_count > 0 and document_index.indexed_at is distinct from document.indexed_at
      order by document.id limit ${documentsPerStatement}
    `.execute(db);
    const ids = rows.map(({ id }) => id);
    if (ids.length > 0) noted += await note(db, ids);
    const last = ids.at(-1);
    if (last === undefined || ids.length < documentsPerStatement) return noted;
    after = last;
  }
}

async function note(db: Db, ids: string[]): Promise<number> {
  const { numAffectedRows } = await sql`
    insert into document_index (document_id, organization_id, workspace_id, indexed_at, model, dimensions, chunking)
    select document.id, document.organization_id, document.workspace_id, document.indexed_at, chunk.model, cardinality(chunk.embedding), ${firstChunking}
    from (select * from document where id = any(${ids}::text[]) for key share skip locked) as document
    cross join lateral (select model, embedding from chunk where chunk.document_id = document.id order by index limit 1) as chunk
    where document.indexed_at is not null
    on conflict (document_id) do update set
      indexed_at = excluded.indexed_at, model = excluded.model, dimensions = excluded.dimensions, chunking = excluded.chunking
  `.execute(db);
  return Number(numAffectedRows ?? 0);
}
