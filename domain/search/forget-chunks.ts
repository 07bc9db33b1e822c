import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';

const tables = ['chunk', 'vector_block', 'lexical_document', 'document_index', 'staged_index'] as const;

/**
 * Deletes all search data of documents, including staged chunks; a trigger deletes their postings. Deleting a document does the same by
 * cascade, which searches for the chunks of each: use this for documents that stay, and for many at once.
 */
export async function forgetChunks(trx: Transaction, documentIds: string[]): Promise<void> {
  for (const table of tables) await sql`delete from ${sql.table(table)} where document_id = any(${documentIds}::text[])`.execute(trx);
}
