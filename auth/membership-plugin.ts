import type { BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthMiddleware, getSessionFromCtx } from 'better-auth/api';
import type { Db } from '../db/connect.ts';
import { findMembership } from './membership.ts';
import { parseRoles } from './permissions.ts';

/** What acts on the organization of the request, or else on the session's active one, and takes who is no member for a bad request. */
const membersOnly = new Set([
  '/organization/update',
  '/organization/invite-member',
  '/organization/remove-member',
  '/organization/update-member-role',
  '/organization/leave',
  '/organization/get-active-member',
  '/organization/add-team-member',
  '/organization/remove-team-member',
]);

/**
 * Refuses with FORBIDDEN who is signed in and may not act on an organization, before better-auth answers BAD_REQUEST with a code that
 * it also uses for a member that the request names. Who is not signed in gets UNAUTHORIZED.
 */
export function membershipPlugin(db: Db): BetterAuthPlugin {
  return {
    id: 'members-only',
    hooks: {
      before: [
        {
          matcher: (ctx) => membersOnly.has(ctx.path ?? ''),
          handler: createAuthMiddleware(async (ctx) => {
            const session = await getSessionFromCtx(ctx);
            const organizationId = ctx.body?.organizationId || session?.session.activeOrganizationId;
            if (!session || typeof organizationId !== 'string') return;
            const roles = await findMembership(db, organizationId, session.user.id);
            if (!roles) throw refusal('YOU_ARE_NOT_A_MEMBER_OF_THIS_ORGANIZATION', 'You are not a member of this organization');
            if (ctx.path !== '/organization/remove-member' || roles.includes('owner')) return;
            if (await isOwner(db, organizationId, String(ctx.body?.memberIdOrEmail)))
              throw refusal('YOU_ARE_NOT_ALLOWED_TO_DELETE_THIS_MEMBER', 'You are not allowed to delete this member');
          }),
        },
        {
          matcher: (ctx) => ctx.path === '/organization/list-user-invitations',
          handler: createAuthMiddleware(async (ctx) => {
            if (!(await getSessionFromCtx(ctx))) throw new APIError('UNAUTHORIZED', { code: 'UNAUTHORIZED', message: 'Unauthorized' });
          }),
        },
      ],
    },
  };
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
