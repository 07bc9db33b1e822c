import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import { type Actor, recordAudit } from '../audit.ts';
import { forgetChunks } from '../search/forget-chunks.ts';
import type { DocumentRow } from './document.ts';

/**
 * Deletes the extracted text of a document that is locked, with its chunks; the document and its object stay. A job that needs the text
 * extracts it again.
 */
export async function forgetText(trx: Transaction, actor: Actor, document: DocumentRow, because: object): Promise<void> {
  const { id, name, organization_id: organizationId, workspace_id: workspaceId } = document;
  await forgetChunks(trx, [id]);
  await trx.deleteFrom('document_text').where('document_id', '=', id).execute();
  const extracted = {
    ...{ extracted_characters: null, extracted_pages: null, extracted_truncated: null, extracted_ocr_pages: null },
    ...{ extracted_ocr_confidence: null, extracted_notices: null, extracted_at: null, indexed_at: null, chunk_count: null },
  };
  await trx
    .updateTable('document')
    .set({ ...extracted, updated_at: sql`clock_timestamp()` })
    .where('id', '=', id)
    .execute();
  await recordAudit(trx, actor, {
    ...{ organizationId, action: 'document.forgetText', targetId: id },
    metadata: { workspaceId, name, ...because },
  });
}
