import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import { type Actor, recordAudit } from '../audit.ts';
import { refuseHeld } from '../holds/legal-hold.ts';
import { lockDocument, lockWorkspace } from '../locks.ts';
import { type DocumentRow, documentNotFound } from './document.ts';
import { type Labels, toLabelColumns } from './labels.ts';

/** Undefined leaves a value as it is. Tags and metadata are replaced as a whole. */
interface DocumentChange {
  name?: string | undefined;
  /** Null removes it. */
  charset?: string | null | undefined;
  tags?: string[] | undefined;
  metadata?: Labels['metadata'] | undefined;
}

/** How many fields of the metadata an audit entry names. */
const maxNamedFields = 50;

/**
 * Changes a document's name, charset, tags and metadata, whether or not its upload is complete. Throws NOT_FOUND if it is gone, LEGAL_HOLD
 * if it is held and anything would change.
 */
export async function updateDocument(trx: Transaction, actor: Actor, document: DocumentRow, change: DocumentChange): Promise<DocumentRow> {
  await lockWorkspace(trx, document.workspace_id, 'change');
  const before = await lockDocument(trx, document.id, 'change');
  const kept = { uploaded_by: document.uploaded_by, failed_job: document.failed_job ?? null };
  if (!before) throw documentNotFound();
  const { name = before.name, charset = before.charset, tags = before.tags, metadata = before.metadata } = change;
  const columns = { name, charset, ...toLabelColumns(before.workspace_id, { tags, metadata }) };
  const changes = listChanges(before, { name, charset, tags: columns.tags, metadata });
  if (Object.keys(changes).length === 0) return { ...before, ...kept };
  await refuseHeld(trx, before.organization_id, before.workspace_id);
  const after = await trx
    .updateTable('document')
    .set({ ...columns, updated_at: sql`clock_timestamp()` })
    .where('id', '=', before.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await recordAudit(trx, actor, {
    organizationId: after.organization_id,
    action: 'document.update',
    targetId: after.id,
    metadata: { workspaceId: after.workspace_id, ...changes },
  });
  return { ...after, ...kept };
}

/** The changes as the audit log records them: of the metadata only the names of fields, since their values may be anything. */
function listChanges(before: DocumentRow, after: Labels & { name: string; charset: string | null }): Record<string, unknown> {
  const differ = (one: unknown, other: unknown) => JSON.stringify(one) !== JSON.stringify(other);
  const keys = [...new Set([...Object.keys(before.metadata), ...Object.keys(after.metadata)])];
  const fields = keys.filter((key) => differ(before.metadata[key], after.metadata[key]));
  return {
    ...(before.name === after.name ? {} : { name: { from: before.name, to: after.name } }),
    ...(before.charset === after.charset ? {} : { charset: { from: before.charset, to: after.charset } }),
    ...(differ(before.tags, after.tags) ? { tags: { from: before.tags, to: after.tags } } : {}),
    ...(fields.length === 0 ? {} : { metadata: { fields: fields.slice(0, maxNamedFields), changed: fields.length } }),
  };
}
