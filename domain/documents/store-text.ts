import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import type { DocumentRow } from './get-document.ts';
import { lockForEffects } from './lock-for-effects.ts';

export interface ExtractedText {
  text: string;
  characters: number;
  pages: number | null;
  truncated: boolean;
}

/** Stores a document's extracted text. Throws DocumentGone where the document was deleted meanwhile. */
export async function storeText(trx: Transaction, document: DocumentRow, extracted: ExtractedText): Promise<void> {
  await lockForEffects(trx, document);
  await trx
    .updateTable('document')
    .set({
      extracted_characters: extracted.characters,
      extracted_pages: extracted.pages,
      extracted_truncated: extracted.truncated,
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
