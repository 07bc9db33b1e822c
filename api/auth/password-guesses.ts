import { createHash } from 'node:crypto';
import type { BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthMiddleware, isAPIError } from 'better-auth/api';
import type pg from 'pg';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { ServerConfig } from '../../base/config/server.ts';
import type { Db } from '../../db/connect.ts';
import { currentActor, currentRequest } from './actor.ts';
import { fingerprintOf, isKnownDevice } from './known-devices.ts';
import { originOf } from './request-origin.ts';

const wrongPasswords = 10;
const windowSeconds = 300;
const wrong = new Set(['INVALID_EMAIL_OR_PASSWORD', 'INVALID_PASSWORD']);
const signInPath = '/sign-in/email';
const passwordOf = (body?: { password?: unknown; currentPassword?: unknown } | null) => body?.password ?? body?.currentPassword;

type Context = Parameters<Parameters<typeof createAuthMiddleware>[0]>[0];

/**
 * Delays who guesses the password of one account from many addresses: after ten wrong ones no more is compared until five minutes after the
 * first. A device that has signed in to the account before is counted by itself, so that a stranger does not keep the owner out. In
 * production only, as better-auth's own limits. Put it last: what another plugin refuses is no guess.
 */
export function passwordGuessesPlugin({ production }: Pick<ServerConfig, 'production'>, db: Db, pool: pg.Pool): BetterAuthPlugin {
  const limiter = new RateLimiterPostgres({
    ...{ keyPrefix: 'password', points: wrongPasswords, duration: windowSeconds },
    ...{ storeClient: pool, storeType: 'pool', tableName: 'rate_limit', tableCreated: true, clearExpiredByTimeout: production },
  });
  const isGuess = ({ path, body }: { path?: string | undefined; body?: unknown }) =>
    production && (path === signInPath || (currentActor() !== undefined && typeof passwordOf(body as object) === 'string'));
  return {
    id: 'password-guesses',
    hooks: {
      before: [
        {
          matcher: isGuess,
          handler: createAuthMiddleware(async (ctx) => {
            const key = await keyOf(db, ctx);
            await limiter.consume(key).catch((refused) => {
              throw refused instanceof RateLimiterRes ? tooMany(refused) : refused;
            });
            currentRequest().guess = key;
          }),
        },
      ],
      after: [
        {
          matcher: isGuess,
          handler: createAuthMiddleware(async ({ context: { returned } }) => {
            const { guess } = currentRequest();
            if (guess && !(isAPIError(returned) && wrong.has(String(returned.body?.code)))) await limiter.reward(guess);
          }),
        },
      ],
    },
  };
}

/** Whose password is guessed: by an address that may have no account, or by the session of the user. */
async function keyOf(db: Db, { path, body, headers }: Context): Promise<string> {
  if (path !== signInPath) return `user ${currentActor()?.userId}`;
  const email = String(body?.email).toLowerCase();
  const fingerprint = fingerprintOf(originOf(headers));
  const key = (await isKnownDevice(db, email, fingerprint)) ? `${email} ${fingerprint}` : email;
  return createHash('sha256').update(key).digest('base64url');
}

function tooMany({ msBeforeNext }: RateLimiterRes): APIError {
  const seconds = String(Math.max(1, Math.ceil(msBeforeNext / 1_000)));
  const message = 'Too many wrong passwords for this account: try again later, or reset the password.';
  return new APIError('TOO_MANY_REQUESTS', { code: 'TOO_MANY_REQUESTS', message }, { 'X-Retry-After': seconds });
}
