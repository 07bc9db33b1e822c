import { getOAuthState } from 'better-auth/api';
import type { Db } from '../db/connect.ts';
import { inTransaction } from '../db/transaction.ts';

/**
 * Frees an address that somebody signed up with but never verified, once its owner comes by a provider that vouches for it. Whatever lets
 * the other one in ends: password, providers, sessions, second factor, links and API keys. better-auth would turn the owner away.
 */
export function accountHooks(db: Db) {
  return {
    create: {
      before: async ({ userId, providerId }: { userId: string; providerId: string }): Promise<void> => {
        // Who adds a provider to their own account is signed in.
        if (providerId === 'credential' || (await getOAuthState())?.link) return;
        await inTransaction(db, async (trx) => {
          const unverified = trx.selectFrom('user').select('id').where('id', '=', userId).where('emailVerified', '=', false).forUpdate();
          if (!(await unverified.executeTakeFirst())) return;
          await trx.deleteFrom('account').where('userId', '=', userId).execute();
          await trx.deleteFrom('session').where('userId', '=', userId).execute();
          await trx.deleteFrom('twoFactor').where('userId', '=', userId).execute();
          await trx.deleteFrom('verification').where('value', '=', userId).execute();
          await trx.updateTable('user').set({ twoFactorEnabled: false }).where('id', '=', userId).execute();
          await trx.updateTable('api_key').set({ responsible_id: null }).where('responsible_id', '=', userId).execute();
          await trx.updateTable('api_key').set({ previous_responsible_id: null }).where('previous_responsible_id', '=', userId).execute();
        });
      },
    },
  };
}
