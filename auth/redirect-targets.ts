import type { BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthMiddleware } from 'better-auth/api';

/** The fields that name a redirect target, with the code of the refusal. */
const codes = {
  callbackURL: 'INVALID_CALLBACK_URL',
  redirectTo: 'INVALID_REDIRECT_URL',
  errorCallbackURL: 'INVALID_ERROR_CALLBACK_URL',
  newUserCallbackURL: 'INVALID_NEW_USER_CALLBACK_URL',
  successUrl: 'INVALID_CALLBACK_URL',
  cancelUrl: 'INVALID_CALLBACK_URL',
  returnUrl: 'INVALID_CALLBACK_URL',
};

/** A backslash is a slash to browsers and not to others; the rest no header can carry. */
const unfit = /[\\\p{Cc}]|[^\0-\xff]/u;

/**
 * Refuses redirect targets of every endpoint that are not of a trusted origin, in whichever way they are read: as they came, or with their
 * dots resolved, as they are where an error is appended to them.
 */
export function redirectTargetPlugin(): BetterAuthPlugin {
  return {
    id: 'redirect-targets',
    hooks: {
      before: [
        {
          matcher: () => true,
          handler: createAuthMiddleware(async ({ body, query, context }) => {
            const isTrusted = (url: string) => context.isTrustedOrigin(url, { allowRelativePaths: true });
            for (const [field, code] of Object.entries(codes))
              for (const value of [body?.[field], query?.[field]].flat())
                if (typeof value === 'string' && value !== '' && !isFit(value, isTrusted))
                  throw new APIError('FORBIDDEN', { code, message: `Invalid ${field}` });
          }),
        },
      ],
    },
  };
}

function isFit(value: string, isTrusted: (url: string) => boolean): boolean {
  if (unfit.test(value) || !isTrusted(value)) return false;
  if (!value.startsWith('/')) return true;
  const { pathname, search, hash } = new URL(value, 'https://any.invalid');
  return isTrusted(`${pathname}${search}${hash}`);
}
