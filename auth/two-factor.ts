import type { BetterAuthPlugin } from 'better-auth';
import { createAuthMiddleware } from 'better-auth/api';
import { twoFactor } from 'better-auth/plugins';
import type { ServerConfig } from '../config/server.ts';

/** Where better-auth's sessions of users begin. */
const signIns = new Set(['/sign-in/email', '/sign-in/social', '/callback/:id']);

/**
 * better-auth's second factor, for every sign-in: better-auth alone does not ask for it after a sign-in with a provider. A browser that
 * comes from a provider is sent to the page that asks for the code, which goes on to `callbackURL`. Put it before plugins that pass on the
 * session of a response.
 */
export function twoFactorPlugin({ webUrl }: Pick<ServerConfig, 'webUrl'>) {
  const plugin = twoFactor();
  const [challenge] = plugin.hooks.after;
  if (!challenge) throw new Error('better-auth asks for the second factor in another way');
  return {
    ...plugin,
    hooks: {
      after: [
        { ...challenge, matcher: ({ path }) => signIns.has(path ?? '') },
        {
          matcher: ({ path }) => path === '/callback/:id',
          handler: createAuthMiddleware(async ({ context: { returned, responseHeaders }, redirect }) => {
            if (!isChallenge(returned)) return;
            const next = responseHeaders?.get('location') ?? webUrl;
            throw redirect(`${webUrl}/two-factor?callbackURL=${encodeURIComponent(next)}`);
          }),
        },
      ],
    },
  } satisfies BetterAuthPlugin;
}

function isChallenge(returned: unknown): boolean {
  return typeof returned === 'object' && returned !== null && 'twoFactorRedirect' in returned;
}
