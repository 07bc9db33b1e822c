import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import { DocumentGone } from './document-gone.ts';

export interface ExtractedText {
  text: string;
  characters: number;
  pages: number | null;
  truncated: boolean;
}

/** Stores a document's extracted text. Throws {@link DocumentGone} where the document was deleted meanwhile. */
export async function storeText(trx: Transaction, documentId: string, extracted: ExtractedText): Promise<void> {
  const updated = await trx
    .updateTable('document')
    .set({
      extracted_characters: extracted.characters,
      extracted_pages: extracted.pages,
      extracted_truncated: extracted.truncated,
      extracted_at: sql`clock_timestamp()`,
      updated_at: sql`clock_timestamp()`,
    })
    .where('id', '=', documentId)
    .returning('id')
    .executeTakeFirst();
  if (!updated) throw new DocumentGone();
  await trx
    .insertInto('document_text')
    .values({ document_id: documentId, text: extracted.text })
    .onConflict((conflict) => conflict.column('document_id').doUpdateSet({ text: extracted.text }))
    .execute();
}
