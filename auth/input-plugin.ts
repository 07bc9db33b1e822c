import type { BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthMiddleware } from 'better-auth/api';

/** The endpoints that set the name of a user. */
const naming = new Set(['/sign-up/email', '/update-user', '/admin/create-user', '/admin/update-user']);

/** Refuses a blank name of a user, which better-auth takes: mails and members are named by it. */
export function userNamePlugin(): BetterAuthPlugin {
  return {
    id: 'user-name',
    hooks: {
      before: [
        {
          matcher: (ctx) => naming.has(ctx.path ?? ''),
          handler: createAuthMiddleware(async ({ path, body }) => {
            const name: unknown = path === '/admin/update-user' ? body?.data?.name : body?.name;
            if (typeof name === 'string' && name.trim() === '')
              throw new APIError('BAD_REQUEST', { code: 'VALIDATION_ERROR', message: '[body.name] The name must not be blank' });
          }),
        },
      ],
    },
  };
}
