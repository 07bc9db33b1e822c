import type { Db } from '../../db/connect.ts';

/** The text that was extracted from a document; null until then. */
export async function getText(db: Db, documentId: string): Promise<string | null> {
  const row = await db.selectFrom('document_text').select('text').where('document_id', '=', documentId).executeTakeFirst();
  return row?.text ?? null;
}
