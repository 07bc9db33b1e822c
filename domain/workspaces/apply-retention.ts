import { sql } from 'kysely';
import { type RetentionKind, retentionKinds } from '../../contract/workspaces.ts';
import { anyOf } from '../../db/batched-read.ts';
import type { Db, Transaction } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import { recordAudit, systemActor } from '../audit.ts';
import { deleteDocument } from '../documents/delete-document.ts';
import { findDocument } from '../documents/document.ts';
import { forgetText } from '../documents/forget-text.ts';
import { Failures } from '../failures.ts';
import { findHold } from '../holds/legal-hold.ts';
import { lockDocument, lockWorkspace } from '../locks.ts';
import { type DueRow, listDue } from './due-rows.ts';
import type { WorkspaceRow } from './workspace.ts';

const workspacesPerPage = 100;
/** A document may have thousands of chunks, so each is deleted in a transaction of its own. */
const rowsPerTransaction: Record<RetentionKind, number> = { documents: 1, texts: 1, jobs: 500 };
const rowsPerPage = 500;

export interface RetentionProgress {
  deleted: number;
  /** The last workspace before the first one that failed. */
  last: string;
}

/**
 * Deletes what workspaces have kept for longer than their retention says, one workspace after another, as a member would delete it. What
 * is held stays. It may be interrupted at any point, and run twice at once. Continues from `before`. Returns how many documents, texts and
 * jobs. Throws at the end the first error of a workspace.
 */
export async function applyRetention(
  db: Db,
  {
    before,
    onProgress,
    signal,
  }: { before: RetentionProgress | undefined; onProgress: (progress: RetentionProgress) => void; signal: AbortSignal },
): Promise<number> {
  const failures = new Failures();
  let { deleted, last } = before ?? { deleted: 0, last: '' };
  for (let reached = last; ; ) {
    const page = await listRetaining(db, reached);
    for (const workspace of page) {
      for (const kind of retentionKinds) {
        await failures.note(async () => {
          for await (const count of deleteDue(db, workspace, kind)) {
            deleted += count;
            onProgress({ deleted, last });
            if (signal.aborted) return;
          }
        });
        signal.throwIfAborted();
      }
      if (!failures.any) last = workspace.id;
    }
    reached = page.at(-1)?.id ?? reached;
    if (page.length < workspacesPerPage) break;
  }
  failures.throwFirst();
  return deleted;
}

type Retaining = Pick<WorkspaceRow, 'id' | 'organization_id' | 'retention'>;

async function listRetaining(db: Db, after: string): Promise<Retaining[]> {
  const retaining = db.selectFrom('workspace').select(['id', 'organization_id', 'retention']).where(sql<boolean>`retention <> '{}'`);
  return await retaining.where('id', '>', after).orderBy('id').limit(workspacesPerPage).execute();
}

/** Deletes what is due of a kind in a workspace. Yields a count after each transaction. */
async function* deleteDue(db: Db, { id: workspaceId, organization_id, retention }: Retaining, kind: RetentionKind): AsyncGenerator<number> {
  const days = retention[kind];
  if (days === undefined) return;
  for (let after: DueRow | undefined; ; ) {
    const page = await listDue(db, { workspaceId, kind, days, after, limit: rowsPerPage });
    for (let start = 0; start < page.length; start += rowsPerTransaction[kind]) {
      const rows = page.slice(start, start + rowsPerTransaction[kind]);
      const count = await inTransaction(db, async (trx) => {
        const now = await lockWorkspace(trx, workspaceId, 'change');
        // Whoever has changed the days or set a hold meanwhile is heard at once.
        if (now?.retention[kind] !== days || (await findHold(trx, organization_id, workspaceId))) return undefined;
        return await removals[kind](trx, now, rows, days);
      });
      if (count === undefined) return;
      yield count;
    }
    after = page.at(-1);
    if (page.length < rowsPerPage) return;
  }
}

type Removal = (trx: Transaction, workspace: WorkspaceRow, rows: DueRow[], retentionDays: number) => Promise<number>;

const removals: Record<RetentionKind, Removal> = {
  async documents(trx, _workspace, [row], retentionDays) {
    const document = row && (await findDocument(trx, row.id));
    if (!document) return 0;
    await deleteDocument(trx, systemActor, document, { retentionDays });
    return 1;
  },
  async texts(trx, _workspace, [row], retentionDays) {
    const document = row && (await lockDocument(trx, row.id, 'change'));
    // It may have been extracted again.
    if (!document || document.extracted_at?.getTime() !== row?.at.getTime()) return 0;
    await forgetText(trx, systemActor, document, { retentionDays });
    return 1;
  },
  async jobs(trx, { id, organization_id }, rows, retentionDays) {
    const ids = rows.map((row) => row.id);
    const gone = await trx.deleteFrom('job').where('id', '=', anyOf(ids)).returning('id').execute();
    const metadata = { jobs: gone.length, retentionDays };
    const of = { organizationId: organization_id, targetType: 'workspace', targetId: id };
    if (gone.length > 0) await recordAudit(trx, systemActor, { ...of, action: 'workspace.deleteJobs', metadata });
    return gone.length;
  },
};
