import type { Storage } from '../../adapters/storage/port.ts';
import { ApiError } from '../../contract/api-error.ts';
import type { Db, Transaction } from '../../db/connect.ts';
import { getWorkspace, type WorkspaceRow } from '../workspaces/workspace.ts';
import { digested } from './digested.ts';
import { type DocumentRow, findDocument, storeDigest } from './document.ts';

interface NewContent {
  workspaceId: string;
  /** Undefined if nothing was promised. */
  sha256: string | undefined;
  /** The document that is to be replaced: no other one answers for it. */
  replaces?: string | undefined;
  /** Whether the caller may learn which documents the workspace has. */
  mayRead: boolean;
}

/**
 * What a workspace says of the content that an upload promises: the document that has it already, if any, and whether that one is returned
 * in place of a new one. Throws CONFLICT if it refuses. A document that still waits for its bytes is none, since its client may never go
 * on: of two uploads at once the second meets the first when it is completed ({@link checkContent}).
 */
export async function meetDuplicate(
  db: Db,
  { workspaceId, sha256, replaces, mayRead }: NewContent,
): Promise<{ duplicate: DocumentRow | undefined; isReturned: boolean }> {
  const duplicate = sha256 === undefined ? undefined : await findByContent(db, workspaceId, sha256);
  if (!duplicate) return { duplicate, isReturned: false };
  const { on_duplicate } = await getWorkspace(db, workspaceId);
  const isReturned = on_duplicate === 'return';
  if (on_duplicate === 'refuse' || (isReturned && (!mayRead || (replaces ?? duplicate.id) !== duplicate.id)))
    throw duplicateRefused(duplicate.id, mayRead);
  return { duplicate: mayRead ? duplicate : undefined, isReturned };
}

/**
 * Checks the stored content of a document that is about to be ready, under the lock of its organization. Throws PRECONDITION_FAILED if it
 * is not what was promised, and CONFLICT if a workspace that does not allow duplicates has it.
 */
export async function checkContent(
  trx: Transaction,
  workspace: WorkspaceRow,
  { promised_sha256, sha256 }: Pick<DocumentRow, 'promised_sha256' | 'sha256'>,
  mayRead: boolean,
): Promise<void> {
  if (promised_sha256 !== null && promised_sha256 !== sha256) {
    const message = 'The uploaded file does not have the SHA-256 that was promised. Delete this document, and upload the file again.';
    throw new ApiError('PRECONDITION_FAILED', { message });
  }
  if (workspace.on_duplicate === 'allow' || sha256 === null) return;
  const other = await findByContent(trx, workspace.id, sha256);
  if (other) throw duplicateRefused(other.id, mayRead);
}

/**
 * Reads the object of a document once and stores its digest, if that is not known and needed: to check a promise, or because the workspace
 * does not allow duplicates. Only an object in a bucket has arrived unseen.
 */
export async function digestIfNeeded(db: Db, storage: Storage, document: DocumentRow): Promise<void> {
  if (document.sha256 !== null) return;
  if (document.promised_sha256 === null && (await getWorkspace(db, document.workspace_id)).on_duplicate === 'allow') return;
  const object = await storage.read(document.object_key);
  if (!object) return;
  const { bytes, result } = digested(object);
  while (!(await bytes.next()).done);
  await storeDigest(db, document.organization_id, document.id, result());
}

/** The oldest complete document of a workspace that has a content. A new version that waits does not count: it may never take its place. */
async function findByContent(db: Db, workspaceId: string, sha256: string): Promise<DocumentRow | undefined> {
  const row = await db
    .selectFrom('document')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('sha256', '=', sha256)
    .where('status', '=', 'ready')
    .where('replaces', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return row && (await findDocument(db, row.id));
}

function duplicateRefused(documentId: string, mayRead: boolean): ApiError {
  const message = 'This workspace has a document with this content, and takes no second one.';
  return new ApiError('CONFLICT', { message, ...(mayRead ? { data: { documentId } } : {}) });
}
