import type { BetterAuthOptions, BetterAuthPlugin } from 'better-auth';
import { createAuthEndpoint, createAuthMiddleware, sessionMiddleware } from 'better-auth/api';
import { type ExpressionBuilder, sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../db/connect.ts';
import type { Database } from '../../db/schema.ts';
import { currentActor } from './actor.ts';

const prefix = 'trust-device-';

/**
 * How better-auth stores what a link or a browser proves: as digests, so that nobody who reads the table can use a link. The names of trusted
 * devices stay readable, so that they can be listed; a cookie needs a signature too.
 */
export const verificationOptions = {
  storeIdentifier: { default: 'hashed', overrides: { [prefix]: 'plain' } },
  additionalFields: { userAgent: { type: 'string', required: false } },
} satisfies BetterAuthOptions['verification'];

/** Notes the browser of a device that is trusted from now on. */
export const verificationHooks = {
  create: {
    before: async ({ identifier }: { identifier: string }, ctx: { headers?: Headers | undefined } | null) => {
      if (!identifier.startsWith(prefix)) return;
      return { data: { userAgent: ctx?.headers?.get('user-agent')?.slice(0, 512) ?? null } as object };
    },
  },
};

const ofOwnSessions = new Set(['/revoke-session', '/revoke-sessions', '/revoke-other-sessions']);
const ofAdmins = new Set(['/admin/revoke-user-session', '/admin/revoke-user-sessions']);

/** Lists and ends the devices that are not asked for a second factor. Ending a session ends the trust in every device of its user. */
export function trustedDevicesPlugin(db: Db): BetterAuthPlugin {
  return {
    id: 'trusted-devices',
    endpoints: {
      listTrustedDevices: createAuthEndpoint('/two-factor/list-trusted-devices', { method: 'GET', use: [sessionMiddleware] }, async (ctx) =>
        ctx.json(
          await db
            .selectFrom('verification')
            .select(['id', 'userAgent', 'createdAt as usedAt', 'expiresAt'])
            .where(isTrustBy(ctx.context.session.user.id))
            .where('expiresAt', '>', sql<Date>`now()`)
            .orderBy('createdAt', 'desc')
            .execute(),
        ),
      ),
      revokeTrustedDevices: createAuthEndpoint(
        '/two-factor/revoke-trusted-devices',
        { method: 'POST', body: z.object({}), use: [sessionMiddleware] },
        async (ctx) => {
          await endTrust(db, ctx.context.session.user.id);
          return ctx.json({ status: true });
        },
      ),
    },
    hooks: {
      before: [
        {
          matcher: ({ path = '' }) => ofOwnSessions.has(path),
          handler: createAuthMiddleware(async () => {
            const userId = currentActor()?.userId;
            if (userId !== undefined) await endTrust(db, userId);
          }),
        },
        {
          matcher: ({ path = '' }) => ofAdmins.has(path),
          handler: createAuthMiddleware(async ({ body }) => {
            if (currentActor()?.role !== 'admin') return;
            const userId = body?.userId ?? (await ownerOf(db, String(body?.sessionToken)));
            if (typeof userId === 'string') await endTrust(db, userId);
          }),
        },
      ],
    },
  };
}

async function ownerOf(db: Db, token: string): Promise<string | undefined> {
  return (await db.selectFrom('session').select('userId').where('token', '=', token).executeTakeFirst())?.userId;
}

async function endTrust(db: Db, userId: string): Promise<void> {
  await db.deleteFrom('verification').where(isTrustBy(userId)).execute();
}

function isTrustBy(userId: string) {
  return (verification: ExpressionBuilder<Database, 'verification'>) =>
    verification.and([verification('value', '=', userId), verification('identifier', 'like', `${prefix}%`)]);
}
