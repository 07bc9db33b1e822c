import type { BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthMiddleware, createEmailVerificationToken, deleteUser, isAPIError } from 'better-auth/api';
import type { ServerConfig } from '../config/server.ts';
import { currentActor } from './actor.ts';
import { withPage } from './links.ts';
import { emailChangeMail } from './mails.ts';
import { inOneTransaction } from './one-transaction.ts';
import { addMail, countMails } from './outgoing-mails.ts';
import { constraints } from './rule-errors.ts';

const taken = constraints.user_email_key.code;

/**
 * Rules that better-auth lacks for users who change their address or delete their account. Both addresses confirm a change, whose response
 * and mails are the same if the new one is taken. A password must be given if there is one.
 */
export function ownAccountPlugin({ webUrl }: Pick<ServerConfig, 'webUrl'>): BetterAuthPlugin {
  return {
    id: 'own-account',
    // A user whom an organization needs is not deleted, and keeps sessions and accounts.
    endpoints: { deleteUser: inOneTransaction(deleteUser) },
    hooks: {
      before: [
        {
          matcher: ({ path }) => path === '/change-email' || path === '/delete-user',
          handler: createAuthMiddleware(async ({ path, body, context }) => {
            const caller = currentActor();
            if (!caller) return;
            if (path === '/change-email') {
              const user = await context.internalAdapter.findUserById(caller.userId);
              // better-auth would then send a link to the new address alone.
              if (!user?.emailVerified) throw new APIError('FORBIDDEN', { code: 'EMAIL_NOT_VERIFIED', message: 'Email not verified' });
            }
            if (path === '/delete-user' && !body?.password && (await context.internalAdapter.findCredentialAccount(caller.userId))) {
              throw new APIError('BAD_REQUEST', { code: 'INVALID_PASSWORD', message: 'The password is needed to delete the account.' });
            }
          }),
        },
      ],
      after: [
        {
          // better-auth sends no mail if the new address is taken, which would reveal who has an account.
          matcher: ({ path }) => path === '/change-email',
          handler: createAuthMiddleware(async ({ body, context }) => {
            const caller = currentActor();
            if (!caller || isAPIError(context.returned) || countMails() > 0) return;
            const newEmail = body.newEmail.toLowerCase();
            const extra = { requestType: 'change-email-confirmation', userId: caller.userId };
            const token = await createEmailVerificationToken(context.secret, caller.email, newEmail, undefined, extra);
            const next = encodeURIComponent(body.callbackURL || '/');
            const link = `${context.baseURL}/verify-email?token=${token}&callbackURL=${next}`;
            addMail(emailChangeMail(caller.email, newEmail, withPage(link, webUrl)));
          }),
        },
        {
          // The link in the mail to a taken address leads back to the application, as links that expired do.
          matcher: ({ path }) => path === '/verify-email',
          handler: createAuthMiddleware(async ({ query, context, redirect }) => {
            const { returned } = context;
            if (!isAPIError(returned) || returned.body?.code !== taken || !query?.callbackURL) return;
            throw redirect(`${query.callbackURL}${query.callbackURL.includes('?') ? '&' : '?'}error=${taken}`);
          }),
        },
      ],
    },
  };
}
