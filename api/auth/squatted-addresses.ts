import { getCurrentAdapter } from '@better-auth/core/context';
import type { AuthContext } from 'better-auth';
import { getOAuthState } from 'better-auth/api';
import type { Db } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';

type Account = { userId: string; providerId: string };
type Endpoint = { context: Pick<AuthContext, 'adapter'> };

/**
 * Frees an address that somebody signed up with but never verified, once its owner comes by a provider that vouches for it. Whatever lets
 * the other one in ends: password, providers, sessions, second factor, known devices, links and API keys. better-auth would turn the owner
 * away.
 */
export function accountHooks(db: Db) {
  return {
    create: {
      before: async ({ userId, providerId }: Account, endpoint: Endpoint | null): Promise<void> => {
        // Who adds a provider to their own account is signed in.
        if (providerId === 'credential' || (await getOAuthState())?.link) return;
        // Within a transaction better-auth makes the user as well: there is nothing to end, and its connection is taken already.
        const adapter = endpoint?.context.adapter;
        if (adapter && (await getCurrentAdapter(adapter)) !== adapter) return;
        await inTransaction(db, async (trx) => {
          const unverified = trx.selectFrom('user').select('id').where('id', '=', userId).where('emailVerified', '=', false).forUpdate();
          if (!(await unverified.executeTakeFirst())) return;
          await trx.deleteFrom('account').where('userId', '=', userId).execute();
          await trx.deleteFrom('session').where('userId', '=', userId).execute();
          await trx.deleteFrom('twoFactor').where('userId', '=', userId).execute();
          await trx.deleteFrom('verification').where('value', '=', userId).execute();
          await trx.deleteFrom('known_device').where('user_id', '=', userId).execute();
          await trx.updateTable('user').set({ twoFactorEnabled: false }).where('id', '=', userId).execute();
          await trx.updateTable('api_key').set({ responsible_id: null }).where('responsible_id', '=', userId).execute();
          await trx.updateTable('api_key').set({ previous_responsible_id: null }).where('previous_responsible_id', '=', userId).execute();
        });
      },
    },
  };
}
