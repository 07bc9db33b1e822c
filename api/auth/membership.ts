import type { Permission } from '../../contract/access.ts';
import type { Db, Transaction } from '../../db/connect.ts';
import { hasPermission, parseRoles, type Role } from './permissions.ts';

/** The user's roles in the organization; undefined if the user is not a member, or the organization does not exist. */
export async function findMembership(db: Db | Transaction, organizationId: string, userId: string): Promise<Role[] | undefined> {
  const member = await db
    .selectFrom('member')
    .select('role')
    .where('organizationId', '=', organizationId)
    .where('userId', '=', userId)
    .executeTakeFirst();
  return member && parseRoles(member.role);
}

/** Whether the user is a member of the organization and has the permission. Without a permission, membership is enough. */
export async function isPermitted(db: Db | Transaction, organizationId: string, userId: string, permission?: Permission): Promise<boolean> {
  const roles = await findMembership(db, organizationId, userId);
  return roles !== undefined && (permission === undefined || hasPermission(roles, permission));
}
