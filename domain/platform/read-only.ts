import { sql } from 'kysely';
import { ApiError } from '../../contract/api-error.ts';
import type { Db, Transaction } from '../../db/connect.ts';
import { type Actor, recordAudit } from '../audit.ts';

const retryAfterSeconds = 60;

/** Why this deployment takes no writes; null while it does. */
export async function findReadOnly(db: Db | Transaction): Promise<string | null> {
  return (await db.selectFrom('deployment').select('read_only').executeTakeFirst())?.read_only ?? null;
}

/** Throws SERVICE_UNAVAILABLE, with the reason, while this deployment takes no writes. */
export async function refuseReadOnly(db: Db | Transaction): Promise<void> {
  const readOnly = await findReadOnly(db);
  if (readOnly === null) return;
  throw new ApiError('SERVICE_UNAVAILABLE', {
    message: `This deployment is read-only: ${readOnly}`,
    retryAfterSeconds,
    data: { readOnly },
  });
}

/** Has this deployment take no writes for a reason, or again with null. Jobs that wait for a provider then wait anew. */
export async function setReadOnly(trx: Transaction, actor: Actor, reason: string | null): Promise<void> {
  if (reason === null && (await findReadOnly(trx)) !== null) {
    const isWaiting = sql<boolean>`status = 'queued' and waiting_since is not null`;
    await trx.updateTable('job').set({ waiting_since: sql`clock_timestamp()` }).where(isWaiting).execute();
  }
  const { id } = await trx.updateTable('deployment').set({ read_only: reason }).returning('id').executeTakeFirstOrThrow();
  const action = reason === null ? 'deployment.writable' : 'deployment.readOnly';
  await recordAudit(trx, actor, { organizationId: null, action, targetId: id, metadata: { reason } });
}
