import type { AuthContext, BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthMiddleware, dispatchAuthEndpoint, isAPIError } from 'better-auth/api';
import { twoFactor } from 'better-auth/plugins';
import { z } from 'zod';
import type { ServerConfig } from '../../base/config/server.ts';
import type { Db } from '../../db/connect.ts';
import { currentActor } from './actor.ts';
import { clearAttempts, countAttempt, stepOf, takeStep } from './second-factor-codes.ts';

/** Where better-auth's sessions of users begin. */
const byProvider = new Set(['/sign-in/social', '/callback/:id']);
const signIns = new Set(['/sign-in/email', ...byProvider]);
const verifyTotp = '/two-factor/verify-totp';
const verifyBackupCode = '/two-factor/verify-backup-code';

/**
 * better-auth's second factor, for every sign-in: better-auth alone does not ask for it after a sign-in with a provider. A browser that
 * comes from a provider is sent to the page that asks for the code, which goes on to `callbackURL`. A code is taken once, and what ends or
 * reveals the factor needs one, except in the session that turned it on. Put it before plugins that pass on the session of a response.
 */
export function twoFactorPlugin({ webUrl }: Pick<ServerConfig, 'webUrl'>, db: Db) {
  // Failures are counted here: better-auth counts one after it has compared the code, so that many at once exceed the bound.
  const plugin = twoFactor({ accountLockout: { enabled: false } });
  const [challenge] = plugin.hooks.after;
  if (!challenge) throw new Error('better-auth asks for the second factor in another way');
  const { disableTwoFactor, generateBackupCodes, getTOTPURI, ...others } = plugin.endpoints;
  const withCode = <E extends Wrappable>(endpoint: E) => needsCode(endpoint, plugin.endpoints, db);
  return {
    ...plugin,
    endpoints: {
      ...others,
      disableTwoFactor: withCode(disableTwoFactor),
      generateBackupCodes: withCode(generateBackupCodes),
      getTOTPURI: withCode(getTOTPURI),
    },
    hooks: {
      before: [
        {
          matcher: ({ path }) => path === verifyTotp || path === verifyBackupCode,
          handler: createAuthMiddleware(async (ctx) => {
            const userId = currentActor()?.userId ?? (await challengedUser(ctx));
            const secret = userId && (await countAttempt(db, userId));
            if (!secret || ctx.path !== verifyTotp) return;
            const step = await stepOf(String(ctx.body?.code), secret, ctx.context.secretConfig);
            if (step === undefined || (await takeStep(db, userId, step))) return;
            return { context: { body: { ...ctx.body, code: 'used' } } };
          }),
        },
      ],
      after: [
        {
          // better-auth read the user before the address was freed of who had turned the factor on: see `accountHooks`.
          matcher: ({ path }) => byProvider.has(path ?? ''),
          handler: createAuthMiddleware(async ({ context: { newSession } }) => {
            if (newSession?.user.twoFactorEnabled) newSession.user.twoFactorEnabled = await isTurnedOn(db, newSession.user.id);
          }),
        },
        { ...challenge, matcher: ({ path }) => signIns.has(path ?? '') },
        {
          matcher: ({ path }) => path === '/callback/:id',
          handler: createAuthMiddleware(async ({ context: { returned, responseHeaders }, redirect }) => {
            if (!isChallenge(returned)) return;
            const next = responseHeaders?.get('location') ?? webUrl;
            throw redirect(`${webUrl}/two-factor?callbackURL=${encodeURIComponent(next)}`);
          }),
        },
        {
          matcher: ({ path }) => path === verifyBackupCode,
          handler: createAuthMiddleware(async ({ context: { returned } }) => {
            if (!isAPIError(returned)) await clearAttempts(db, (returned as { user: { id: string } }).user.id);
          }),
        },
        {
          // Other sessions began without the second factor.
          matcher: ({ path }) => path === verifyTotp,
          handler: createAuthMiddleware(async ({ context: { newSession, adapter } }) => {
            if (!newSession || !currentActor()) return;
            const { id, userId } = newSession.session;
            await db.updateTable('twoFactor').set({ sessionId: id }).where('userId', '=', userId).execute();
            const others = [
              { field: 'userId', value: userId },
              { field: 'id', operator: 'ne', value: id },
            ] as const;
            await adapter.deleteMany({ model: 'session', where: [...others] });
          }),
        },
      ],
    },
  } satisfies BetterAuthPlugin;
}

type Challenge = Parameters<Parameters<typeof createAuthMiddleware>[0]>[0];

/** The user of a sign-in that waits for a code, unless it had five: better-auth then looks at no more. */
async function challengedUser({ context, getSignedCookie }: Challenge): Promise<string | undefined> {
  const identifier = await getSignedCookie(context.createAuthCookie('two_factor').name, context.secret);
  if (!identifier) return undefined;
  const attempts = await context.internalAdapter.findVerificationValue(`2fa-attempts-${identifier}`);
  return Number(attempts?.value) >= 5 ? undefined : (await context.internalAdapter.findVerificationValue(identifier))?.value;
}

interface Wrappable {
  options: { body: z.ZodObject };
}

/** Wraps an endpoint that ends or reveals the second factor, so that it also takes a code, and needs it in other sessions. */
function needsCode<E extends Wrappable>(endpoint: E, verify: Record<'verifyTOTP' | 'verifyBackupCode', unknown>, db: Db): E {
  const call = endpoint as unknown as (request: object) => Promise<unknown>;
  const first = async (request: { context: AuthContext; headers?: Headers; body: { code?: string } }) => {
    const caller = currentActor();
    if (caller && (await isOnElsewhere(db, caller))) {
      const { code } = request.body;
      if (code === undefined) throw new APIError('FORBIDDEN', { code: 'CODE_REQUIRED', message: 'A code of the second factor is needed.' });
      const endpointOfCode = /^\d{6}$/.test(code) ? verify.verifyTOTP : verify.verifyBackupCode;
      const { context, headers } = request;
      await dispatchAuthEndpoint(endpointOfCode as never, { context, headers, method: 'POST', body: { code }, asResponse: false } as never);
    }
    return call(request);
  };
  const body = endpoint.options.body.extend({ code: z.string().optional() });
  return Object.assign(first, endpoint, { options: { ...endpoint.options, body } }) as unknown as E;
}

/** Whether the user's second factor is on, and was not turned on in this session. */
async function isOnElsewhere(db: Db, { userId, sessionId }: { userId: string; sessionId: string }): Promise<boolean> {
  const factor = await db.selectFrom('twoFactor').select(['verified', 'sessionId']).where('userId', '=', userId).executeTakeFirst();
  return factor?.verified === true && factor.sessionId !== sessionId;
}

async function isTurnedOn(db: Db, userId: string): Promise<boolean> {
  const user = await db.selectFrom('user').select('twoFactorEnabled').where('id', '=', userId).executeTakeFirst();
  return user?.twoFactorEnabled === true;
}

function isChallenge(returned: unknown): boolean {
  return typeof returned === 'object' && returned !== null && 'twoFactorRedirect' in returned;
}
