import type { BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthMiddleware } from 'better-auth/api';
import type { Db } from '../../db/connect.ts';
import { currentActor } from './actor.ts';
import { parseRoles } from './permissions.ts';
import { storedRole } from './session.ts';

/** Endpoints that act on the organization of the request, or on the session's active one, and return 400 if the caller is not a member. */
const membersOnly = new Set([
  '/organization/update',
  '/organization/invite-member',
  '/organization/remove-member',
  '/organization/update-member-role',
  '/organization/leave',
  '/organization/add-team-member',
  '/organization/remove-team-member',
]);

/**
 * Refuses a caller who is signed in but may not act on the organization with FORBIDDEN. better-auth would return BAD_REQUEST, with a code
 * that it also uses for the member named by the request.
 */
export function membershipPlugin(db: Db): BetterAuthPlugin {
  return {
    id: 'members-only',
    hooks: {
      before: [
        {
          matcher: (ctx) => membersOnly.has(ctx.path ?? ''),
          handler: createAuthMiddleware(async (ctx) => {
            // better-auth's hooks see the session of a cookie, but not that of a bearer token.
            const caller = currentActor();
            const organizationId = caller && (ctx.body?.organizationId || (await findActiveOrganization(db, caller.sessionId)));
            if (!caller || typeof organizationId !== 'string') return;
            const roles = parseRoles(storedRole(caller, organizationId) ?? '');
            if (roles.length === 0) throw refusal('YOU_ARE_NOT_A_MEMBER_OF_THIS_ORGANIZATION', 'You are not a member of this organization');
            if (ctx.path !== '/organization/remove-member' || roles.includes('owner')) return;
            if (await isOwner(db, organizationId, String(ctx.body?.memberIdOrEmail)))
              throw refusal('YOU_ARE_NOT_ALLOWED_TO_DELETE_THIS_MEMBER', 'You are not allowed to delete this member');
          }),
        },
      ],
    },
  };
}

async function findActiveOrganization(db: Db, sessionId: string): Promise<string | null | undefined> {
  const session = await db.selectFrom('session').select('activeOrganizationId').where('id', '=', sessionId).executeTakeFirst();
  return session?.activeOrganizationId;
}

function refusal(code: string, message: string): APIError {
  return new APIError('FORBIDDEN', { code, message });
}

async function isOwner(db: Db, organizationId: string, memberIdOrEmail: string): Promise<boolean> {
  const member = await db
    .selectFrom('member')
    .innerJoin('user', 'user.id', 'member.userId')
    .select('member.role')
    .where('member.organizationId', '=', organizationId)
    .where(({ or, eb }) => or([eb('member.id', '=', memberIdOrEmail), eb('user.email', '=', memberIdOrEmail.toLowerCase())]))
    .executeTakeFirst();
  return member !== undefined && parseRoles(member.role).includes('owner');
}
