import { sql } from 'kysely';
import type { Db, Transaction } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import { systemActor } from '../audit.ts';
import { findLiveSubscription } from '../billing/find-subscription.ts';
import { lockOrganizationForDeletion } from '../locks.ts';
import { markForDeletion } from './request-deletion.ts';

/** The others are left for the next day. */
const maxAtOnce = 1_000;
const pageSize = 1_000;

interface DeleteOptions {
  onProgress: (marked: number) => void;
  signal: AbortSignal;
}

/**
 * Requests the deletion of organizations that were written more than a day ago and still have no member: the process died before it wrote
 * the first one, so nobody can use or delete them. Returns how many.
 */
export async function deleteOwnerlessOrganizations(db: Db, { onProgress, signal }: DeleteOptions): Promise<number> {
  let marked = 0;
  // Organizations that may not be deleted stay in the table, and must not hide the others.
  for (let after = ''; ; ) {
    const page = await findOwnerless(db, after);
    for (const id of page) {
      signal.throwIfAborted();
      if (await inTransaction(db, (trx) => markOwnerless(trx, id))) marked++;
      onProgress(marked);
      if (marked === maxAtOnce) return marked;
    }
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return marked;
    after = last;
  }
}

async function findOwnerless(db: Db, after: string): Promise<string[]> {
  const rows = await db
    .selectFrom('organization_without_owner')
    .select('organization_id')
    .where('organization_id', '>', after)
    .where('created_at', '<', sql<Date>`now() - interval '24 hours'`)
    .where(
      sql<boolean>`not exists (select from organization_deletion as d where d.organization_id = organization_without_owner.organization_id)`,
    )
    .orderBy('organization_id')
    .limit(pageSize)
    .execute();
  return rows.map(({ organization_id }) => organization_id);
}

async function markOwnerless(trx: Transaction, id: string): Promise<boolean> {
  const organization = await lockOrganizationForDeletion(trx, id);
  if (!organization) return false;
  // A member of any role may have been added meanwhile, also by hand.
  const member = await trx.selectFrom('member').select('id').where('organizationId', '=', id).limit(1).executeTakeFirst();
  if (member || (await findLiveSubscription(trx, id))) return false;
  await markForDeletion(trx, systemActor, { id, ...organization });
  return true;
}
