import { type Kysely, sql } from 'kysely';
import { createIndexes, withShortLocks } from './online.ts';

export const online = true;

/**
 * What documents are found by: tags and metadata with their keys in an index, content types, times; and where a chunk stands in its
 * document. Rows from before have no labels, and places that nobody knows (null), until they are indexed again.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await withShortLocks(db, async (trx) => void (await sql.raw(statement).execute(trx)));
  await createIndexes(db, {
    // Keys begin with the workspace, so that a search reads those of its own. What waits in a list would be read by each search of all.
    document_labels: 'on document using gin (labels) with (fastupdate = off) where labels is not null',
    document_content_type: 'on document (workspace_id, content_type, created_at desc, id desc)',
    document_pending_page: `on document (workspace_id, created_at desc, id desc) where status = 'pending'`,
    document_indexed: 'on document (workspace_id, indexed_at) where indexed_at is not null',
  });
}

const statements = [
  // As `json`, which keeps the text: a number such as 1e300 has three hundred digits in a `jsonb`.
  `alter table document
     add column if not exists tags text[] not null default '{}',
     add column if not exists metadata json not null default '{}',
     add column if not exists labels bigint[],
     add column if not exists label_bytes integer not null default 0`,
  `alter table document_text add column if not exists outline jsonb`,
  `alter table chunk
     add column if not exists text_start integer,
     add column if not exists text_end integer,
     add column if not exists page integer,
     add column if not exists page_breaks integer[],
     add column if not exists headings text[]`,
];
