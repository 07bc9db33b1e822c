import { ApiError } from '../../contract/api-error.ts';
import type { Db } from '../../db/connect.ts';

/** Throws NOT_FOUND unless the team belongs to the organization (spec §4, Workspaces). */
export async function checkTeam(db: Db, organizationId: string, teamId: string): Promise<void> {
  const team = await db
    .selectFrom('team')
    .select('id')
    .where('id', '=', teamId)
    .where('organizationId', '=', organizationId)
    .executeTakeFirst();
  if (!team) throw new ApiError('NOT_FOUND', { message: 'The team is not one of this organization.' });
}
