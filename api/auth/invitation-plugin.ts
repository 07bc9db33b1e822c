import type { BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthEndpoint, createAuthMiddleware } from 'better-auth/api';
import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../db/connect.ts';
import { inviterMayNot } from './rule-errors.ts';

/**
 * Shows an invitation to its recipient only while its inviter could still make it, and lists none that has run out. The database checks the
 * rest. Who invites to what is told to whoever has the id, as the mail with it does: its page shows that before anybody signs up.
 */
export function invitationPlugin(db: Db): BetterAuthPlugin {
  return {
    id: 'standing-invitations',
    endpoints: {
      invitationNames: createAuthEndpoint(
        '/organization/get-invitation-names',
        { method: 'GET', query: z.object({ id: z.string() }) },
        async (ctx) => {
          const names = await standing(db, [ctx.query.id])
            .innerJoin('organization', 'organization.id', 'invitation.organizationId')
            .innerJoin('user', 'user.id', 'invitation.inviterId')
            .where('invitation.status', '=', 'pending')
            .select(['organization.name as organizationName', 'user.name as inviterName'])
            .executeTakeFirst();
          if (!names) throw new APIError('BAD_REQUEST', { code: 'INVITATION_NOT_FOUND', message: 'Invitation not found' });
          return ctx.json(names);
        },
      ),
    },
    hooks: {
      after: [
        {
          matcher: (ctx) => ctx.path === '/organization/get-invitation',
          handler: createAuthMiddleware(async (ctx) => {
            const { returned } = ctx.context;
            if (!isInvitation(returned) || (await findStanding(db, [returned.id])).has(returned.id)) return;
            throw new APIError('BAD_REQUEST', { code: 'INVITER_IS_NO_LONGER_A_MEMBER_OF_THE_ORGANIZATION', message: inviterMayNot });
          }),
        },
        {
          matcher: (ctx) => ctx.path === '/organization/list-user-invitations',
          handler: createAuthMiddleware(async (ctx) => {
            const { returned } = ctx.context;
            if (!Array.isArray(returned)) return;
            const standing = await findStanding(
              db,
              returned.filter(isInvitation).map(({ id }) => id),
            );
            return ctx.json(returned.filter(({ id }) => standing.has(id)));
          }),
        },
      ],
    },
  };
}

function isInvitation(returned: unknown): returned is { id: string } {
  return typeof returned === 'object' && returned !== null && 'id' in returned;
}

/** The ids of those invitations that have not run out, and that their inviters could still make. */
async function findStanding(db: Db, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await standing(db, ids).select('id').execute();
  return new Set(rows.map(({ id }) => id));
}

function standing(db: Db, ids: string[]) {
  return db
    .selectFrom('invitation')
    .where('invitation.id', 'in', ids)
    .where('invitation.expiresAt', '>', sql<Date>`now()`)
    .where(sql<boolean>`invitation_stands(invitation)`);
}
