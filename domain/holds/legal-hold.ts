import { type Selectable, sql } from 'kysely';
import { ApiError } from '../../contract/api-error.ts';
import type { Db, Transaction } from '../../db/connect.ts';
import type { LegalHoldTable } from '../../db/schema.ts';

export type HoldRow = Selectable<LegalHoldTable>;

/** Why something is held, and since when. */
type HoldReason = Pick<HoldRow, 'reason' | 'since'>;

/** The holds of an organization: that of all of it first, then those of its workspaces by their age. */
export async function listHolds(db: Db, organizationId: string): Promise<HoldRow[]> {
  const holds = db.selectFrom('legal_hold').selectAll().where('organization_id', '=', organizationId);
  return await holds
    .orderBy('workspace_id', (order) => order.asc().nullsFirst())
    .orderBy('since')
    .execute();
}

/** Whether a row with an organization and a workspace is held: by either, or of the audit log by anything of the organization. */
export function isHeld(table: 'job' | 'audit_entry') {
  const ofWorkspace = table === 'job' ? sql`and coalesce(hold.workspace_id = job.workspace_id, hold.workspace_id is null)` : sql``;
  return sql<boolean>`exists (
    select from legal_hold as hold where hold.organization_id = ${sql.table(table)}.organization_id ${ofWorkspace}
  )`;
}

/**
 * What holds the workspace, or its organization; without a workspace anything of the organization; undefined if nothing does. It stays so
 * while the caller has the lock of the workspace or of the organization, which a new hold takes, too.
 */
export async function findHold(db: Db | Transaction, organizationId: string, workspaceId?: string): Promise<HoldReason | undefined> {
  const holds = db.selectFrom('legal_hold').select(['reason', 'since']).where('organization_id', '=', organizationId);
  const ofWorkspace = sql<boolean>`coalesce(workspace_id = ${workspaceId}, true)`;
  return await (workspaceId === undefined ? holds : holds.where(ofWorkspace)).limit(1).executeTakeFirst();
}

/** Throws LEGAL_HOLD, with the reason, if {@link findHold} finds one. */
export async function refuseHeld(trx: Transaction, organizationId: string, workspaceId?: string): Promise<void> {
  const hold = await findHold(trx, organizationId, workspaceId);
  if (!hold) return;
  const { reason, since } = hold;
  throw new ApiError('LEGAL_HOLD', { message: `A legal hold keeps this: ${reason}`, data: { reason, since: since.toISOString() } });
}
