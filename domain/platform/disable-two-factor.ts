import type { Transaction } from '../../db/connect.ts';
import { lockUser } from '../locks.ts';
import { queueMail } from '../mail.ts';
import { noticeMail } from '../users/notice-mail.ts';

/** Turns the second factor of the user with this address off, for an operator with access to the database. A trigger audits it. */
export async function disableTwoFactor(trx: Transaction, email: string): Promise<'disabled' | 'was-off' | 'no-user'> {
  const user = await lockUser(trx, email.trim().toLowerCase());
  if (!user) return 'no-user';
  await trx.deleteFrom('twoFactor').where('userId', '=', user.id).execute();
  const on = trx.updateTable('user').set({ twoFactorEnabled: false }).where('id', '=', user.id).where('twoFactorEnabled', '=', true);
  if ((await on.executeTakeFirst()).numUpdatedRows === 0n) return 'was-off';
  await queueMail(trx, noticeMail(email.trim(), 'An operator has turned two-factor off', { address: undefined, userAgent: undefined }));
  return 'disabled';
}
