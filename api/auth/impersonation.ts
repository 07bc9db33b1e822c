import { APIError } from 'better-auth/api';
import type { Caller } from './session.ts';

/**
 * What a platform admin may ask better-auth while impersonating a user: to look, to change names, and to stop. Everything else is refused,
 * also what better-auth adds one day. Nothing here makes a session, a credential or a member, or changes how the user signs in.
 */
const allowed = new Set([
  ...['/get-session', '/sign-out', '/admin/stop-impersonating', '/admin/has-permission', '/update-user', '/list-accounts'],
  ...[
    ...['check-slug', 'update', 'list', 'get-organization', 'get-full-organization', 'set-active', 'has-permission', 'list-members'],
    ...['get-active-member', 'get-active-member-role', 'get-invitation', 'list-invitations', 'list-user-invitations'],
    ...['list-teams', 'set-active-team', 'list-user-teams', 'list-team-members'],
  ].map((name) => `/organization/${name}`),
  '/subscription/list',
]);

/** Throws YOU_ARE_IMPERSONATING if an impersonated session asks for more than it may. `path` begins below the base path. */
export function checkImpersonation(caller: Caller | undefined, path: string): void {
  if (!caller?.impersonatedBy || allowed.has(path)) return;
  throw new APIError('FORBIDDEN', { code: 'YOU_ARE_IMPERSONATING', message: 'Only the user may do this, not who impersonates them.' });
}
