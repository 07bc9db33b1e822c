import { sql } from 'kysely';
import { ApiError } from '../../contract/api-error.ts';
import type { Transaction } from '../../db/connect.ts';
import type { Plan } from '../billing/plan.ts';
import { workspaceNotFound } from './workspace.ts';

/**
 * Adds bytes to a workspace's use, or takes them away, and locks its row. With a plan, an increase beyond its limit throws
 * LIMIT_REACHED; that needs the organization's lock. Throws NOT_FOUND for a workspace
 * that is gone.
 */
export async function changeUsedBytes(trx: Transaction, workspaceId: string, deltaBytes: number, plan: Plan | null): Promise<void> {
  const { rows } = await sql<{ used_bytes: number }>`
    update workspace set used_bytes = used_bytes + ${deltaBytes}::bigint where id = ${workspaceId} returning used_bytes
  `.execute(trx);
  const used = rows[0]?.used_bytes;
  if (used === undefined) throw workspaceNotFound();
  if (plan === null || deltaBytes <= 0 || used <= plan.limits.storageBytes) return;
  throw new ApiError('LIMIT_REACHED', { data: { kind: 'storageBytes', limit: plan.limits.storageBytes, plan: plan.plan } });
}
