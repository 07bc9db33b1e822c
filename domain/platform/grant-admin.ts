import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import { recordAudit, systemActor } from '../audit.ts';
import { lockUser } from '../locks.ts';

/** Makes the user with this address a platform admin, for an operator with access to the database. */
export async function grantAdmin(trx: Transaction, email: string): Promise<'granted' | 'was-admin' | 'no-user'> {
  const user = await lockUser(trx, email.trim().toLowerCase());
  if (!user) return 'no-user';
  if (user.role === 'admin') return 'was-admin';
  await makeAdmin(trx, user, 'operator');
  return 'granted';
}

/** Makes a user a platform admin, and writes the audit entry with its reason. */
export async function makeAdmin(
  trx: Transaction,
  user: { id: string; role: string | null },
  by: 'operator' | 'first-admin',
): Promise<void> {
  await trx.updateTable('user').set({ role: 'admin', updatedAt: sql`clock_timestamp()` }).where('id', '=', user.id).execute();
  await recordAudit(trx, systemActor, {
    organizationId: null,
    action: 'user.role',
    targetId: user.id,
    metadata: { from: user.role, to: 'admin', by },
  });
}
