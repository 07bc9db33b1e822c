import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import type { DocumentRow } from '../documents/document.ts';
import type { DocumentPostings } from './collect-postings.ts';
import { workspaceKeyOf } from './term-keys.ts';
import { termsVersion } from './terms.ts';

/** Replaces a document's postings by those of its chunks, and notes that they are those of its index. Needs the document's lock. */
export async function storePostings(
  trx: Transaction,
  { id, workspace_id }: DocumentRow,
  { chunkCount, termCount, terms, rows: stored }: DocumentPostings,
): Promise<void> {
  const workspaceKey = workspaceKeyOf(workspace_id);
  // A trigger deletes its postings.
  await trx.deleteFrom('lexical_document').where('document_id', '=', id).execute();
  const { rows } = await sql<{ number: number }>`
    insert into lexical_document (
      document_id, organization_id, workspace_id, indexed_at, chunk_count, term_count, workspace_key, terms, terms_version
    )
    select id, organization_id, workspace_id, indexed_at, ${chunkCount}, ${termCount}, ${workspaceKey}, ${`{${terms}}`}::bigint[], ${termsVersion}
    from document where id = ${id}
    returning number
  `.execute(trx);
  const number = rows[0]?.number;
  if (number === undefined || terms.length === 0) return;
  // Their order is that of the index, so that neighbors are written together.
  await sql`
    insert into posting (workspace_key, term, document_number, part, postings)
    select ${workspaceKey}, term, ${number}, part, postings
    from unnest(
      ${toArray(stored, ({ term }) => term)}::bigint[], ${toArray(stored, ({ number: part }) => part)}::int[], ${toArray(stored, ({ postings }) => postings)}::text[]
    ) as stored (term, part, postings)
  `.execute(trx);
}

/** An array of Postgres, of values that need no quotes. */
function toArray<T>(items: T[], toValue: (item: T) => number | string): string {
  return `{${items.map(toValue).join(',')}}`;
}
