import { ApiError } from '../../contract/api-error.ts';
import type { Transaction } from '../../db/connect.ts';

/**
 * Throws NOT_FOUND unless the team belongs to the organization (spec §4, Workspaces); it stays until the transaction ends. Call it
 * before a workspace is locked: a team that goes takes its row first, then those of its workspaces.
 */
export async function checkTeam(trx: Transaction, organizationId: string, teamId: string): Promise<void> {
  const team = await trx
    .selectFrom('team')
    .select('id')
    .where('id', '=', teamId)
    .where('organizationId', '=', organizationId)
    .forKeyShare()
    .executeTakeFirst();
  if (!team) throw new ApiError('NOT_FOUND', { message: 'The team is not one of this organization.' });
}
