import type { BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthMiddleware, deleteUser } from 'better-auth/api';
import { currentActor } from './actor.ts';
import { inOneTransaction } from './one-transaction.ts';

/** Deletes the account of users who give their password, if they have one. */
export function ownAccountPlugin(): BetterAuthPlugin {
  return {
    id: 'own-account',
    // A user whom an organization needs is not deleted, and keeps sessions and accounts.
    endpoints: { deleteUser: inOneTransaction(deleteUser) },
    hooks: {
      before: [
        {
          matcher: ({ path }) => path === '/delete-user',
          handler: createAuthMiddleware(async ({ body, context }) => {
            const caller = currentActor();
            if (!caller || body?.password || !(await context.internalAdapter.findCredentialAccount(caller.userId))) return;
            throw new APIError('BAD_REQUEST', { code: 'INVALID_PASSWORD', message: 'The password is needed to delete the account.' });
          }),
        },
      ],
    },
  };
}
