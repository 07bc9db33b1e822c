import { sql } from 'kysely';
import { ApiError } from '../../contract/api-error.ts';
import type { Transaction } from '../../db/connect.ts';
import { type Actor, recordAudit } from '../audit.ts';
import { lockOrganization, lockWorkspaces } from '../locks.ts';
import { workspaceNotFound } from '../workspaces/workspace.ts';
import type { HoldRow } from './legal-hold.ts';

interface HoldTarget {
  organizationId: string;
  /** The only workspace that is held; undefined for the whole organization. */
  workspaceId?: string | undefined;
}

/**
 * Keeps a workspace, or all of an organization, from deletion, or changes the reason. Waits for deletions that have begun. Throws NOT_FOUND
 * if it is gone or being deleted.
 */
export async function setHold(trx: Transaction, actor: Actor, { reason, ...target }: HoldTarget & { reason: string }): Promise<HoldRow> {
  await lockTarget(trx, target);
  const { organizationId, workspaceId = null } = target;
  const hold = await trx
    .insertInto('legal_hold')
    .values({ organization_id: organizationId, workspace_id: workspaceId, reason })
    .onConflict((conflict) => conflict.constraint('legal_hold_once').doUpdateSet({ reason }))
    .returningAll()
    .executeTakeFirstOrThrow();
  await recordAudit(trx, actor, { ...eventOf(target, 'hold.set'), metadata: { reason } });
  return hold;
}

/** Lifts the hold of a workspace, or that of a whole organization; others stay. Throws NOT_FOUND if there is none. */
export async function liftHold(trx: Transaction, actor: Actor, target: HoldTarget): Promise<void> {
  await lockTarget(trx, target);
  const { organizationId, workspaceId = null } = target;
  const lifted = await trx
    .deleteFrom('legal_hold')
    .where('organization_id', '=', organizationId)
    .where(sql<boolean>`workspace_id is not distinct from ${workspaceId}`)
    .returning('reason')
    .executeTakeFirst();
  if (!lifted) throw new ApiError('NOT_FOUND', { message: 'There is no such hold.' });
  await recordAudit(trx, actor, { ...eventOf(target, 'hold.lift'), metadata: { reason: lifted.reason } });
}

/** Documents are deleted under the lock of their workspace, so a hold takes the locks of all that it holds. */
async function lockTarget(trx: Transaction, { organizationId, workspaceId }: HoldTarget): Promise<void> {
  await lockOrganization(trx, organizationId);
  const locked = await lockWorkspaces(trx, organizationId, workspaceId);
  if (workspaceId !== undefined && locked === 0) throw workspaceNotFound();
}

function eventOf({ organizationId, workspaceId }: HoldTarget, action: string) {
  const target = workspaceId === undefined ? ['organization', organizationId] : ['workspace', workspaceId];
  return { organizationId, action, targetType: target[0] ?? '', targetId: target[1] ?? '' };
}
