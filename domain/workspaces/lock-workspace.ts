import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import { type WorkspaceRow, workspaceNotFound } from './get-workspace.ts';

/**
 * Locks a workspace's row until the transaction ends; rows that refer to it can still be written. Take the organization's lock
 * first (rule 1). Throws NOT_FOUND where it is gone.
 */
export async function lockWorkspace(trx: Transaction, workspaceId: string): Promise<WorkspaceRow> {
  const { rows } = await sql<WorkspaceRow>`select * from workspace where id = ${workspaceId} for no key update`.execute(trx);
  if (!rows[0]) throw workspaceNotFound();
  return rows[0];
}
