import { createHash } from 'node:crypto';
import { appendQueryParams } from '@better-auth/core/utils/url';
import { type BetterAuthPlugin, generateId } from 'better-auth';
import { APIError, createAuthEndpoint, isAPIError, originCheck, sensitiveSessionMiddleware } from 'better-auth/api';
import { sql } from 'kysely';
import { z } from 'zod';
import type { ServerConfig } from '../../base/config/server.ts';
import type { Db } from '../../db/connect.ts';
import { withPage } from './links.ts';
import { emailChangeMail, newEmailMail } from './mails.ts';
import { addMail } from './outgoing-mails.ts';

const confirmPath = '/change-email/confirm';
const anHourAhead = sql<Date>`now() + interval '1 hour'`;

/**
 * Changes the address of a user once both addresses have confirmed it. better-auth's links are valid by themselves for an hour: nothing ends
 * them, and they work several times. Here one row for each user holds the change that is pending, and the digest of its only link. Triggers
 * end it with the password, the address, a ban or a change of the second factor. The response and the mails are the same if the address is
 * taken; the last link then says so.
 */
export function emailChangePlugin({ webUrl }: Pick<ServerConfig, 'webUrl'>, db: Db): BetterAuthPlugin {
  const linkOf = (baseURL: string, token: string, callbackURL = '/') =>
    withPage(`${baseURL}${confirmPath}?${new URLSearchParams({ token, callbackURL })}`, webUrl);
  return {
    id: 'email-change',
    endpoints: {
      changeEmail: createAuthEndpoint(
        '/change-email',
        { method: 'POST', body: z.object({ newEmail: z.email(), callbackURL: z.string().optional() }), use: [sensitiveSessionMiddleware] },
        async ({ body, context, json }) => {
          const { user } = context.session;
          const newEmail = body.newEmail.toLowerCase();
          if (!user.emailVerified) throw new APIError('FORBIDDEN', { code: 'EMAIL_NOT_VERIFIED', message: 'Email not verified' });
          if (newEmail === user.email) throw new APIError('BAD_REQUEST', { message: 'Email is the same' });
          const token = generateId(32);
          const change = { new_email: newEmail, token_hash: hash(token), confirmed: false, expires_at: anHourAhead };
          await db
            .insertInto('email_change')
            .values({ user_id: user.id, ...change })
            .onConflict((conflict) => conflict.column('user_id').doUpdateSet(change))
            .execute();
          addMail(emailChangeMail(user.email, newEmail, linkOf(context.baseURL, token, body.callbackURL || '/')));
          return json({ status: true });
        },
      ),
      confirmEmailChange: createAuthEndpoint(
        confirmPath,
        {
          method: 'GET',
          query: z.object({ token: z.string(), callbackURL: z.string().optional() }),
          use: [originCheck((ctx) => ctx.query?.callbackURL)],
        },
        async ({ query: { token, callbackURL }, context, json, redirect }) => {
          const next = generateId(32);
          const toConfirm = await confirm(db, token, next);
          try {
            if (toConfirm) addMail(newEmailMail(toConfirm, linkOf(context.baseURL, next, callbackURL)));
            else {
              const { user_id: id, new_email: email } = await take(db, token);
              await context.internalAdapter.updateUser(id, { email });
            }
          } catch (error) {
            if (!isAPIError(error) || !error.body?.code || !callbackURL) throw error;
            throw redirect(appendQueryParams(callbackURL, new URLSearchParams({ error: error.body.code })));
          }
          if (callbackURL) throw redirect(callbackURL);
          return json({ status: true });
        },
      ),
    },
  };
}

/** Confirms a change for the present address, and gives it the link of the new one, which is returned; undefined for any other link. */
async function confirm(db: Db, token: string, next: string): Promise<string | undefined> {
  const confirmed = await db
    .updateTable('email_change')
    .set({ confirmed: true, token_hash: hash(next), expires_at: anHourAhead })
    .where('token_hash', '=', hash(token))
    .where('confirmed', '=', false)
    .where('expires_at', '>', sql<Date>`now()`)
    .returning('new_email')
    .executeTakeFirst();
  return confirmed?.new_email;
}

/** Ends a change that both addresses have confirmed, to be made now. Throws INVALID_TOKEN if the link has none. */
async function take(db: Db, token: string): Promise<{ user_id: string; new_email: string }> {
  const change = await db
    .deleteFrom('email_change')
    .where('token_hash', '=', hash(token))
    .where('confirmed', '=', true)
    .where('expires_at', '>', sql<Date>`now()`)
    .returning(['user_id', 'new_email'])
    .executeTakeFirst();
  if (!change) throw new APIError('UNAUTHORIZED', { code: 'INVALID_TOKEN', message: 'Invalid token' });
  return change;
}

function hash(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
