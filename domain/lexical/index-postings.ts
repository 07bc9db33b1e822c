import { sql } from 'kysely';
import type { Db, Transaction } from '../../db/connect.ts';
import { readChunkTexts } from '../chunks/read-chunks.ts';
import type { DocumentRow } from '../documents/document.ts';
import { forEachOutdated, type OutdatedDocument, type OutdatedPage } from '../documents/for-each-outdated.ts';
import { collectPostings } from './collect-postings.ts';
import { storePostings } from './store-postings.ts';
import { hasChangedTerms, termsVersion } from './terms.ts';

/**
 * Gives their postings to documents that have none, or only those of an earlier index or of an earlier version of the terms; see
 * {@link forEachOutdated}.
 */
export async function indexPostings(db: Db, signal?: AbortSignal): Promise<number> {
  return await forEachOutdated(db, findUnindexed, indexDocument, signal);
}

/** Reads both tables in the order of their keys, and nothing twice. */
async function findUnindexed(db: Db, { after, limit }: OutdatedPage): Promise<OutdatedDocument[]> {
  const { rows } = await sql<OutdatedDocument>`
    select document.id, document.workspace_id
    from document left join lexical_document on lexical_document.document_id = document.id
    where document.id > ${after} and document.chunk_count > 0
      and (lexical_document.indexed_at is distinct from document.indexed_at or coalesce(terms_version, 0) < ${termsVersion})
    order by document.id limit ${limit}
  `.execute(db);
  return rows;
}

async function indexDocument(trx: Transaction, document: DocumentRow): Promise<boolean> {
  const { id, indexed_at } = document;
  const known = await trx
    .selectFrom('lexical_document')
    .select(['indexed_at', 'terms_version'])
    .where('document_id', '=', id)
    .executeTakeFirst();
  const isOfIndex = indexed_at?.getTime() === known?.indexed_at.getTime();
  if (isOfIndex && (known?.terms_version ?? 0) >= termsVersion) return false;
  const texts = await readChunkTexts(trx, id);
  if (isOfIndex && !texts.some(hasChangedTerms)) {
    await trx.updateTable('lexical_document').set({ terms_version: termsVersion }).where('document_id', '=', id).execute();
    return false;
  }
  await storePostings(trx, document, await collectPostings(texts, document.workspace_id));
  return true;
}
