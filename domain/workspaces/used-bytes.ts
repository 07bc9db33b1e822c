import { sql } from 'kysely';
import { ApiError } from '../../contract/api-error.ts';
import type { Transaction } from '../../db/connect.ts';
import type { Plan } from '../billing/plan.ts';
import { workspaceNotFound } from './workspace.ts';

/**
 * Adds bytes to a workspace's used bytes, or subtracts them, and returns the new sum (docs/rules.md, counters are kept). Locks the
 * workspace. Throws NOT_FOUND if it is gone.
 */
export async function changeUsedBytes(trx: Transaction, workspaceId: string, deltaBytes: number): Promise<number> {
  const { rows } = await sql<{ used_bytes: number }>`
    update workspace set used_bytes = used_bytes + ${deltaBytes}::bigint where id = ${workspaceId} returning used_bytes
  `.execute(trx);
  const used = rows[0]?.used_bytes;
  if (used === undefined) throw workspaceNotFound();
  return used;
}

/** Throws LIMIT_REACHED if a workspace uses more bytes than the plan allows. Needs the organization's lock. */
export function checkUsedBytes(usedBytes: number, plan: Plan | null): void {
  if (plan === null || usedBytes <= plan.limits.storageBytes) return;
  throw new ApiError('LIMIT_REACHED', { data: { kind: 'storageBytes', limit: plan.limits.storageBytes, plan: plan.plan } });
}
