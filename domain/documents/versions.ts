import { sql } from 'kysely';
import type { Db, Transaction } from '../../db/connect.ts';
import { type DocumentRow, whoIsThere } from './document.ts';

/** What a version of a document was. */
export interface DocumentVersion {
  number: number;
  sha256: string | null;
  sizeBytes: number;
  createdBy: string | null;
  createdAt: Date;
}

/** The newest versions of a document, the current one first. */
export async function listVersions(db: Db, document: DocumentRow, limit: number): Promise<DocumentVersion[]> {
  const versions = await db
    .selectFrom('document_version')
    .select(['number', 'sha256', 'size_bytes as sizeBytes', 'created_at as createdAt'])
    .select(whoIsThere(sql.ref('created_by')).as('createdBy'))
    .where('document_id', '=', document.id)
    .orderBy('number', 'desc')
    .limit(limit)
    .execute();
  return versions.length > 0 ? versions : [versionOf(document)];
}

/** Lists a new version of a document, and the first one beside the second: before that the document says it itself. */
export async function addVersion(trx: Transaction, before: DocumentRow, upload: DocumentRow): Promise<void> {
  const { object_key } = upload;
  const added = { ...versionOf(upload), number: before.version + 1, createdAt: sql<Date>`clock_timestamp()`, object_key };
  const versions = before.version === 1 ? [{ ...versionOf(before), object_key: before.object_key }, added] : [added];
  await trx
    .insertInto('document_version')
    .values(
      versions.map(({ number, sha256, sizeBytes, createdBy, createdAt, object_key }) => ({
        ...{ document_id: before.id, number, sha256, size_bytes: sizeBytes, created_by: createdBy, created_at: createdAt },
        object_key,
      })),
    )
    .execute();
}

function versionOf({ version, sha256, size_bytes, uploaded_by, created_at }: DocumentRow): DocumentVersion {
  return { number: version, sha256, sizeBytes: size_bytes, createdBy: uploaded_by, createdAt: created_at };
}
