import type { BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthMiddleware } from 'better-auth/api';
import { sql } from 'kysely';
import type { Db } from '../db/connect.ts';

/**
 * Refuses to remove a user who is the only owner of an organization, before better-auth begins: it deletes sessions and accounts first, in
 * separate transactions. If only the trigger refused, the user would remain and could not sign in.
 */
export function userRemovalPlugin(db: Db): BetterAuthPlugin {
  return {
    id: 'user-removal',
    hooks: {
      before: [
        {
          matcher: (ctx) => ctx.path === '/admin/remove-user',
          handler: createAuthMiddleware(async (ctx) => {
            if (await isOnlyOwner(db, String(ctx.body?.userId))) {
              throw new APIError('CONFLICT', { code: 'LAST_OWNER', message: 'The user is the only owner of an organization.' });
            }
          }),
        },
      ],
    },
  };
}

async function isOnlyOwner(db: Db, userId: string): Promise<boolean> {
  const owns = sql<boolean>`member.role ~ '\\yowner\\y'`;
  const ownsToo = sql<boolean>`other.role ~ '\\yowner\\y'`;
  const row = await db
    .selectFrom('member')
    .select('member.id')
    .where('member.userId', '=', userId)
    .where(owns)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('member as other')
            .select('other.id')
            .whereRef('other.organizationId', '=', 'member.organizationId')
            .where('other.userId', '<>', userId)
            .where(ownsToo),
        ),
      ),
    )
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
