import type { ProviderConfig } from '../../base/config/server.ts';
import type { Db } from '../../db/connect.ts';
import { notBanned } from '../../domain/users/not-banned.ts';
import { type Caller, memberships } from './session.ts';

/** A user who calls by a token of their provider. */
export type LinkedUser = Caller & { twoFactorEnabled: boolean | null };

/**
 * The user who has signed in with this account of a provider, as they are now; undefined if there is none, or they are banned. They call
 * without a session, and not as a platform admin.
 */
export async function findLinkedUser(
  db: Db,
  account: { providerIds: ProviderConfig['id'][]; subject: string },
): Promise<LinkedUser | undefined> {
  const user = await db
    .selectFrom('account')
    .innerJoin('user', 'user.id', 'account.userId')
    .select(['user.id as userId', 'user.email', 'user.name', 'user.image', 'user.createdAt', 'user.twoFactorEnabled'])
    .select(memberships)
    .where('account.providerId', 'in', account.providerIds)
    .where('account.accountId', '=', account.subject)
    .where(notBanned('user'))
    .executeTakeFirst();
  return user && { ...user, role: null, sessionId: '', lacksTwoFactor: false, impersonatedBy: null };
}
