import { type AuthContext, BASE_ERROR_CODES, type BetterAuthPlugin } from 'better-auth';
import { APIError, signInEmail } from 'better-auth/api';
import { z } from 'zod';
import type { Db } from '../../db/connect.ts';
import { noticeMail } from '../../domain/users/notice-mail.ts';
import { runAsActor } from './actor.ts';
import { addMail } from './outgoing-mails.ts';
import { originOf } from './request-origin.ts';

interface Request {
  context: AuthContext;
  headers?: Headers;
  body: { email: string; password: string; newPassword?: string };
}

/**
 * Lets nobody stay signed in with a password that a platform admin has set: the sign-in gives another one along as `newPassword`. An admin
 * who uses it must do so too, and cannot go unseen: the user gets a mail, and finds the password changed. A second factor is asked for all
 * the same.
 */
export function adminSetPasswordPlugin(db: Db): BetterAuthPlugin {
  const endpoint = signInEmail();
  const signIn = endpoint as unknown as (request: Request) => Promise<unknown>;
  const andChoose = async (request: Request) => {
    // Of several that give this password at once, one changes it while better-auth compares those of the others.
    const before = await findSetByAdmin(db, String(request.body?.email).toLowerCase());
    const answer = await signIn(request);
    const { newSession } = request.context;
    const account = newSession && (before ?? (await findSetByAdmin(db, newSession.user.email)));
    if (account) await choosePassword(request, newSession, account);
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

interface PasswordOfAdmin {
  id: string;
  password: string | null;
}

async function findSetByAdmin(db: Db, email: string): Promise<PasswordOfAdmin | undefined> {
  return await db
    .selectFrom('account')
    .innerJoin('user', 'user.id', 'account.userId')
    .select(['account.id', 'account.password'])
    .where('user.email', '=', email)
    .where('providerId', '=', 'credential')
    .where('setByAdmin', '=', true)
    .executeTakeFirst();
}

/**
 * Stores the given new password. Ends the session and throws PASSWORD_CHANGE_REQUIRED if there is none, or it is the same, and
 * INVALID_EMAIL_OR_PASSWORD if another sign-in was faster.
 */
async function choosePassword(
  { context, headers, body }: Request,
  { user, session }: NonNullable<AuthContext['newSession']>,
  account: PasswordOfAdmin,
): Promise<void> {
  const { adapter, internalAdapter, password } = context;
  const refuse = async (error: APIError) => {
    await internalAdapter.deleteSession(session.token);
    context.setNewSession(null);
    throw error;
  };
  if (body.newPassword === undefined || body.newPassword === body.password)
    return await refuse(
      new APIError('FORBIDDEN', {
        code: 'PASSWORD_CHANGE_REQUIRED',
        message: 'An admin has set this password: sign in with it and with a new one, as newPassword.',
      }),
    );
  const update = { password: await password.hash(body.newPassword) };
  const where = [
    { field: 'id', value: account.id },
    { field: 'password', value: account.password },
  ];
  // A browser may still carry the session of the admin, who does not choose this one.
  const changed = await runAsActor(undefined, () => adapter.updateMany({ model: 'account', where, update }));
  if (changed === 0) return await refuse(APIError.from('UNAUTHORIZED', BASE_ERROR_CODES.INVALID_EMAIL_OR_PASSWORD));
  addMail(noticeMail(user.email, 'Your password was changed', originOf(headers)));
}
