import type { BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthMiddleware } from 'better-auth/api';
import { currentActor } from './actor.ts';

/**
 * Refuses to end an impersonation if the request lacks the admin's own session, which better-auth keeps in a cookie. better-auth
 * itself responds with 500 and no message to a client that has only the bearer token.
 */
export function stopImpersonatingPlugin(): BetterAuthPlugin {
  return {
    id: 'stop-impersonating',
    hooks: {
      before: [
        {
          matcher: (ctx) => ctx.path === '/admin/stop-impersonating',
          handler: createAuthMiddleware(async (ctx) => {
            if (!currentActor()?.impersonatedBy) return;
            const { name } = ctx.context.createAuthCookie('admin_session');
            if (await ctx.getSignedCookie(name, ctx.context.secret)) return;
            throw new APIError('BAD_REQUEST', {
              code: 'ADMIN_SESSION_NOT_FOUND',
              message: 'The request has no cookie with the session of the admin: go on with that session instead.',
            });
          }),
        },
      ],
    },
  };
}
