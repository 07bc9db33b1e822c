import { objectKey } from '../../adapters/storage/object-key.ts';
import { ApiError } from '../../contract/api-error.ts';
import { contentTypes, extraTypeMessage } from '../../contract/content-types.ts';
import { startUpload } from '../../contract/intents/definitions.ts';
import type { Transaction } from '../../db/connect.ts';
import { addToOutbox } from '../../db/outbox.ts';
import { type Actor, recordAudit } from '../audit.ts';
import type { GetPlan } from '../billing/plan.ts';
import { lockOrganization } from '../locks.ts';
import { changeUsedBytes, checkUsedBytes } from '../workspaces/used-bytes.ts';
import type { DocumentRow } from './document.ts';
import { type Labels, toLabelColumns } from './labels.ts';
import { checkReplaceable } from './replace-content.ts';

interface NewUpload {
  id: string;
  organizationId: string;
  workspaceId: string;
  name: string;
  contentType: string;
  charset?: string | undefined;
  sizeBytes: number;
  /** What the caller promises to upload. */
  sha256?: string | undefined;
  /** The document whose content it replaces. */
  replaces?: string | undefined;
  tags?: string[] | undefined;
  metadata?: Labels['metadata'] | undefined;
}

/** Throws PAYLOAD_TOO_LARGE if the declared size is beyond the maximum of this deployment. */
export function checkDeclaredSize(sizeBytes: number, maxBytes: number): void {
  if (sizeBytes > maxBytes) throw new ApiError('PAYLOAD_TOO_LARGE', { data: { maxBytes } });
}

/**
 * Throws BAD_REQUEST if this deployment does not take documents of the type: `extra` lists the types that it takes besides the usual ones.
 */
export function checkContentType(contentType: string, extra: readonly string[]): void {
  if ((contentTypes as readonly string[]).includes(contentType) || extra.includes(contentType)) return;
  const message = extraTypeMessage(contentType, extra);
  throw new ApiError('BAD_REQUEST', { message: `contentType: ${message}`, data: { issues: [{ path: ['contentType'], message }] } });
}

/**
 * Inserts a pending document, and asks for the workflow that removes it if its upload is not completed (docs/rules.md, document states).
 * Throws LIMIT_REACHED, NOT_FOUND, and as {@link checkReplaceable}.
 */
export async function createUpload(trx: Transaction, getPlan: GetPlan, actor: Actor, upload: NewUpload): Promise<DocumentRow> {
  const {
    id,
    organizationId,
    workspaceId,
    name,
    contentType,
    charset = null,
    sizeBytes,
    sha256 = null,
    replaces = null,
    tags = [],
    metadata = {},
  } = upload;
  await lockOrganization(trx, organizationId);
  if (replaces !== null) await checkReplaceable(trx, replaces, workspaceId);
  const plan = await getPlan(trx, organizationId);
  checkUsedBytes(await changeUsedBytes(trx, workspaceId, sizeBytes), plan);
  const document = await trx
    .insertInto('document')
    .values({
      id,
      organization_id: organizationId,
      workspace_id: workspaceId,
      uploaded_by: actor.userId,
      name,
      content_type: contentType,
      charset,
      size_bytes: sizeBytes,
      promised_sha256: sha256,
      replaces,
      status: 'pending',
      object_key: objectKey(organizationId, id),
      ...toLabelColumns(workspaceId, { tags, metadata }),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await recordAudit(trx, actor, {
    organizationId,
    action: 'document.create',
    targetId: id,
    metadata: { workspaceId, name, contentType, size: sizeBytes, ...(replaces === null ? {} : { replaces }) },
  });
  addToOutbox(trx, startUpload({ documentId: id, organizationId, workspaceId }));
  return document;
}
