import type { Kysely } from 'kysely';
import { createIndexes } from './online.ts';

export const online = true;

/** The documents of a workspace by name and by size. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createIndexes(db, {
    // The expression of domain/documents/document-order.ts.
    document_name: 'on document (workspace_id, lower(normalize(name, nfd) collate pg_c_utf8), id)',
    document_size: 'on document (workspace_id, size_bytes, id)',
  });
}
