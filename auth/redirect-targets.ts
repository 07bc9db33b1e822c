import type { BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthMiddleware } from 'better-auth/api';

/** The fields that name a redirect target, with the code of better-auth's refusal. */
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
 * Refuses redirect targets that are read in more ways than one. better-auth checks the origin as it reads them, and sends them as
 * they came.
 */
export function redirectTargetPlugin(): BetterAuthPlugin {
  return {
    id: 'redirect-targets',
    hooks: {
      before: [
        {
          matcher: () => true,
          handler: createAuthMiddleware(async ({ body, query }) => {
            for (const [field, code] of Object.entries(codes))
              for (const value of [body?.[field], query?.[field]].flat())
                if (typeof value === 'string' && unfit.test(value)) throw new APIError('FORBIDDEN', { code, message: `Invalid ${field}` });
          }),
        },
      ],
    },
  };
}
