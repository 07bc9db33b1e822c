import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';

const tables = ['chunk', 'vector_block', 'lexical_document', 'document_index', 'staged_index'] as const;

/**
 * Deletes all that a search knows of documents, and what is staged for them; a trigger deletes their postings. A document that is deleted takes
 * it along by cascade, which looks for the chunks of each: this is for those that stay, and for many at once.
 */
export async function forgetChunks(trx: Transaction, documentIds: string[]): Promise<void> {
  for (const table of tables) await sql`delete from ${sql.table(table)} where document_id = any(${documentIds}::text[])`.execute(trx);
}
