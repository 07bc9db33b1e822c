import { type Selectable, sql } from 'kysely';
import { ApiError } from '../../contract/api-error.ts';
import type { Db, Transaction } from '../../db/connect.ts';
import type { LegalHoldTable } from '../../db/schema.ts';

export type HoldRow = Selectable<LegalHoldTable>;

/** The holds of an organization: that of all of it first, then those of its workspaces by their age. */
export async function listHolds(db: Db, organizationId: string): Promise<HoldRow[]> {
  const holds = db.selectFrom('legal_hold').selectAll().where('organization_id', '=', organizationId);
  return await holds
    .orderBy('workspace_id', (order) => order.asc().nullsFirst())
    .orderBy('since')
    .execute();
}

/**
 * Throws LEGAL_HOLD, with the reason, if the workspace or its organization is held; without a workspace if anything of the organization is.
 * The caller holds the lock of the workspace or of the organization, which a new hold takes, too.
 */
export async function refuseHeld(trx: Transaction, organizationId: string, workspaceId?: string): Promise<void> {
  const holds = trx.selectFrom('legal_hold').select(['reason', 'since']).where('organization_id', '=', organizationId);
  const ofWorkspace = sql<boolean>`coalesce(workspace_id = ${workspaceId}, true)`;
  const hold = await (workspaceId === undefined ? holds : holds.where(ofWorkspace)).limit(1).executeTakeFirst();
  if (!hold) return;
  const { reason, since } = hold;
  throw new ApiError('LEGAL_HOLD', { message: `A legal hold keeps this: ${reason}`, data: { reason, since: since.toISOString() } });
}
