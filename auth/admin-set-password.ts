import type { AuthContext, BetterAuthPlugin } from 'better-auth';
import { APIError, signInEmail } from 'better-auth/api';
import { z } from 'zod';
import type { Db } from '../db/connect.ts';
import { noticeMail } from '../domain/users/notice-mail.ts';
import { runAsActor } from './actor.ts';
import { addMail } from './outgoing-mails.ts';
import { originOf } from './request-origin.ts';

interface Request {
  context: AuthContext;
  headers?: Headers;
  body: { password: string; newPassword?: string };
}

/**
 * Lets nobody stay signed in with a password that a platform admin has set: the sign-in gives another one along as `newPassword`. Otherwise
 * the admin could go on as the user, who would be named for it. A second factor is asked for all the same.
 */
export function adminSetPasswordPlugin(db: Db): BetterAuthPlugin {
  const endpoint = signInEmail();
  const signIn = endpoint as unknown as (request: Request) => Promise<unknown>;
  const andChoose = async (request: Request) => {
    const answer = await signIn(request);
    const { newSession } = request.context;
    if (newSession && (await isSetByAdmin(db, newSession.user.id))) await choosePassword(request, newSession);
    return answer;
  };
  const body = endpoint.options.body.extend({ newPassword: z.string().optional() });
  return {
    id: 'admin-set-password',
    endpoints: {
      signInEmail: Object.assign(andChoose, endpoint, { options: { ...endpoint.options, body } }) as unknown as typeof endpoint,
    },
  };
}

async function isSetByAdmin(db: Db, userId: string): Promise<boolean> {
  const account = await db
    .selectFrom('account')
    .select('setByAdmin')
    .where('userId', '=', userId)
    .where('providerId', '=', 'credential')
    .executeTakeFirst();
  return account?.setByAdmin === true;
}

/** Stores the given new password. Ends the session and throws PASSWORD_CHANGE_REQUIRED if there is none, or it is the same. */
async function choosePassword(
  { context, headers, body }: Request,
  { user, session }: NonNullable<AuthContext['newSession']>,
): Promise<void> {
  const { internalAdapter, password } = context;
  if (body.newPassword === undefined || body.newPassword === body.password) {
    await internalAdapter.deleteSession(session.token);
    context.setNewSession(null);
    throw new APIError('FORBIDDEN', {
      code: 'PASSWORD_CHANGE_REQUIRED',
      message: 'An admin has set this password: sign in with it and with a new one, as newPassword.',
    });
  }
  const hash = await password.hash(body.newPassword);
  // A browser may still carry the session of the admin, who does not choose this one.
  await runAsActor(undefined, () => internalAdapter.updatePassword(user.id, hash));
  addMail(noticeMail(user.email, 'Your password was changed', originOf(headers)));
}
