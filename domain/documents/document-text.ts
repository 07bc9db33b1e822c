import { sql } from 'kysely';
import type { Db, Transaction } from '../../db/connect.ts';
import { lockForEffects } from '../locks.ts';
import type { DocumentRow } from './document.ts';

/** The extracted text of a document; null if none is stored. */
export async function getText(db: Db, documentId: string): Promise<string | null> {
  const row = await db.selectFrom('document_text').select('text').where('document_id', '=', documentId).executeTakeFirst();
  return row?.text ?? null;
}

export interface ExtractedText {
  text: string;
  characters: number;
  pages: number | null;
  truncated: boolean;
  /** How many pages text recognition has read, if any. */
  ocrPages?: number | undefined;
}

/** Stores a document's extracted text. Throws DocumentGone if the document has been deleted. */
export async function storeText(trx: Transaction, document: DocumentRow, extracted: ExtractedText): Promise<void> {
  await lockForEffects(trx, document);
  await trx
    .updateTable('document')
    .set({
      extracted_characters: extracted.characters,
      extracted_pages: extracted.pages,
      extracted_truncated: extracted.truncated,
      extracted_ocr_pages: extracted.ocrPages ?? null,
      extracted_at: sql`clock_timestamp()`,
      updated_at: sql`clock_timestamp()`,
    })
    .where('id', '=', document.id)
    .execute();
  await trx
    .insertInto('document_text')
    .values({ document_id: document.id, text: extracted.text })
    .onConflict((conflict) => conflict.column('document_id').doUpdateSet({ text: extracted.text }))
    .execute();
}
