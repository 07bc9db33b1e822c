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

/** Backslashes, which only browsers treat as slashes, and characters that no header can carry. */
const unfit = /[\\\p{Cc}]|[^\0-\xff]/u;

/**
 * Refuses redirect targets outside of trusted origins, both as sent and with dot segments resolved, which happens when an error is
 * appended.
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
