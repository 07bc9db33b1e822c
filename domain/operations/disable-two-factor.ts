import type { Transaction } from '../../db/connect.ts';
import { lockUser } from '../locks.ts';

/** Turns the second factor of the user with this address off, for an operator with access to the database. A trigger audits it. */
export async function disableTwoFactor(trx: Transaction, email: string): Promise<'disabled' | 'was-off' | 'no-user'> {
  const user = await lockUser(trx, email.trim().toLowerCase());
  if (!user) return 'no-user';
  await trx.deleteFrom('twoFactor').where('userId', '=', user.id).execute();
  const on = trx.updateTable('user').set({ twoFactorEnabled: false }).where('id', '=', user.id).where('twoFactorEnabled', '=', true);
  return (await on.executeTakeFirst()).numUpdatedRows > 0n ? 'disabled' : 'was-off';
}
