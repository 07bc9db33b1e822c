import type { Account, BetterAuthPlugin } from 'better-auth';
import { createAuthMiddleware, isAPIError } from 'better-auth/api';
import type { Db } from '../../db/connect.ts';
import { noticeMail } from '../../domain/users/notice-mail.ts';
import { currentActor, currentRequest } from './actor.ts';
import { fingerprintOf, noteDevice } from './known-devices.ts';
import { addMail } from './outgoing-mails.ts';
import { originOf } from './request-origin.ts';

/** What users are told when they change how they sign in, so that they hear of it if it was somebody else. */
const ownChanges: Record<string, string> = {
  '/change-password': 'Your password was changed',
  '/two-factor/verify-totp': 'Two-factor was turned on',
  '/two-factor/disable': 'Two-factor was turned off',
  '/two-factor/generate-backup-codes': 'New backup codes were made',
  '/unlink-account': 'A sign-in provider was removed from your account',
};

/** What users are told when a platform admin changes their account. */
const changesByAdmin: Record<string, string> = {
  '/admin/set-user-password': 'A platform admin has set your password',
  '/admin/update-user': 'A platform admin has changed your account',
  '/admin/set-role': 'A platform admin has changed your role',
  '/admin/ban-user': 'A platform admin has banned your account',
  '/admin/unban-user': 'A platform admin has lifted the ban of your account',
  '/admin/revoke-user-session': 'A platform admin has ended a session of yours',
  '/admin/revoke-user-sessions': 'A platform admin has ended your sessions',
};

const signIns = new Set([
  ...['/sign-up/email', '/sign-in/email', '/sign-in/social', '/callback/:id'],
  ...['/two-factor/verify-totp', '/two-factor/verify-backup-code'],
]);

/** Tells users by mail what changes how they sign in, what a platform admin does to their account, and of sign-ins from new devices. */
export function noticesPlugin(db: Db): BetterAuthPlugin {
  return {
    id: 'notices',
    init: () => ({ options: { databaseHooks: { account: { create: { after: tellOfProvider(db) } } } } }),
    hooks: {
      before: [
        {
          // Before the change, which may be of the address.
          matcher: ({ path = '' }) => path in changesByAdmin,
          handler: createAuthMiddleware(async ({ body }) => {
            if (currentActor()?.role !== 'admin') return;
            currentRequest().concerned = await findConcerned(db, body);
          }),
        },
      ],
      after: [
        {
          matcher: ({ path = '' }) => path in changesByAdmin,
          handler: createAuthMiddleware(async ({ path, context: { returned } }) => {
            const { concerned, actor } = currentRequest();
            // Where an admin works is not told. What admins do to themselves is no news to them.
            if (!isAPIError(returned) && concerned && concerned.id !== actor?.userId)
              addMail(noticeMail(concerned.email, changesByAdmin[path] ?? '', { address: undefined, userAgent: undefined }));
          }),
        },
        {
          matcher: ({ path = '' }) => path in ownChanges,
          handler: createAuthMiddleware(async ({ path, headers, context: { returned, newSession } }) => {
            const caller = currentActor();
            // A code that is given in a session which has the second factor turns nothing on.
            if (!caller || isAPIError(returned) || (path === '/two-factor/verify-totp' && !newSession)) return;
            addMail(noticeMail(caller.email, ownChanges[path] ?? '', originOf(headers)));
          }),
        },
        {
          matcher: ({ path = '' }) => signIns.has(path),
          handler: createAuthMiddleware(async ({ headers, context: { newSession } }) => {
            if (!newSession || newSession.user.id === currentActor()?.userId) return;
            const origin = originOf(headers);
            if (await noteDevice(db, newSession.user.id, fingerprintOf(origin)))
              addMail(noticeMail(newSession.user.email, 'A new device has signed in to your account', origin));
          }),
        },
      ],
    },
  };
}

/** Tells who has another way to sign in of one more. A new password is told where it is set. */
function tellOfProvider(db: Db) {
  return async ({ id, userId, providerId }: Account, endpoint: { headers?: Headers | undefined } | null): Promise<void> => {
    if (providerId === 'credential') return;
    const others = db.selectFrom('account').select('id').where('userId', '=', userId).where('id', '<>', id);
    const user = await db
      .selectFrom('user')
      .select('email')
      .where('id', '=', userId)
      .where(({ exists }) => exists(others))
      .executeTakeFirst();
    if (user) addMail(noticeMail(user.email, 'A sign-in provider was added to your account', originOf(endpoint?.headers)));
  };
}

/** The user whom an admin's request names, by id or by a session. */
async function findConcerned(
  db: Db,
  body: { userId?: unknown; sessionToken?: unknown } | undefined,
): Promise<{ id: string; email: string } | undefined> {
  const users = db.selectFrom('user').select(['user.id', 'user.email']);
  if (typeof body?.userId === 'string') return await users.where('user.id', '=', body.userId).executeTakeFirst();
  const ofSession = users.innerJoin('session', 'session.userId', 'user.id').where('session.token', '=', String(body?.sessionToken));
  return await ofSession.executeTakeFirst();
}
