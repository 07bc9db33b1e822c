import { runWithTransaction } from '@better-auth/core/context';
import { type BetterAuthPlugin, generateId } from 'better-auth';
import { createAuthMiddleware, isAPIError } from 'better-auth/api';
import type { ServerConfig } from '../../base/config/server.ts';
import { withResetPage } from './links.ts';
import { repeatedSignUpMail } from './mails.ts';
import { addMail } from './outgoing-mails.ts';

/** As long as better-auth's own links to a new password. */
const hour = 60 * 60 * 1000;

/**
 * Takes the password of an unverified address away if somebody signs up with that address again, and mails a link to a new one. Otherwise
 * whoever signed up first with the address of another could sign in once its owner has confirmed it. It is a hook instead of
 * `onExistingUserSignUp`, for which better-auth does not wait, and with which it does not fail.
 */
export function repeatedSignUpPlugin({ webUrl }: Pick<ServerConfig, 'webUrl'>): BetterAuthPlugin {
  return {
    id: 'repeated-sign-up',
    hooks: {
      after: [
        {
          matcher: ({ path }) => path === '/sign-up/email',
          handler: createAuthMiddleware(async ({ body, context }) => {
            const { returned, internalAdapter } = context as typeof context & { returned: { user: { id: string } } };
            if (isAPIError(returned)) return;
            await runWithTransaction(context.adapter, async () => {
              const found = await internalAdapter.findUserByEmail(body.email);
              // The response has the id of a new user; if the address is taken, that of nobody.
              if (!found || found.user.id === returned.user.id || found.user.emailVerified) return;
              const { id, email } = found.user;
              const account = await internalAdapter.findCredentialAccount(id);
              if (account) await internalAdapter.deleteAccount(account.id);
              const token = generateId(24);
              const expiresAt = new Date(Date.now() + hour);
              await internalAdapter.createVerificationValue({ value: id, identifier: `reset-password:${token}`, expiresAt });
              addMail(repeatedSignUpMail(email, withResetPage(`${context.baseURL}/reset-password/${token}?callbackURL=`, webUrl)));
            });
          }),
        },
      ],
    },
  };
}
