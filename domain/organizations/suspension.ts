import { sql } from 'kysely';
import { ApiError } from '../../contract/api-error.ts';
import type { Db, Transaction } from '../../db/connect.ts';

/** Why an organization is suspended, and since when. */
export interface Suspension {
  reason: string;
  since: Date;
}

/** The suspension of an organization; undefined without one. */
export async function findSuspension(db: Db | Transaction, organizationId: string): Promise<Suspension | undefined> {
  const found = db.selectFrom('organization_suspension').select(['reason', 'since']).where('organization_id', '=', organizationId);
  return await found.executeTakeFirst();
}

/** Throws ORGANIZATION_SUSPENDED, with the reason, if it is. */
export async function refuseSuspended(db: Db | Transaction, organizationId: string): Promise<void> {
  const suspension = await findSuspension(db, organizationId);
  if (!suspension) return;
  const { reason, since } = suspension;
  const message = `This organization is suspended: ${reason}`;
  throw new ApiError('ORGANIZATION_SUSPENDED', { message, data: { reason, since: since.toISOString() } });
}

/** Whether the organization of a job is suspended. */
export const isSuspended = sql<boolean>`exists (select from organization_suspension as s where s.organization_id = job.organization_id)`;
