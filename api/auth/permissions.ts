import { createAccessControl } from 'better-auth/plugins/access';
import { adminAc, defaultStatements, memberAc, ownerAc } from 'better-auth/plugins/organization/access';
import type { Permission } from '../../contract/access.ts';

/** The permissions that roles are made of: better-auth's own, and the service's. */
export const accessControl = createAccessControl({
  ...defaultStatements,
  workspace: ['read', 'create', 'update', 'delete'],
  document: ['read', 'create', 'delete'],
  job: ['read', 'create', 'cancel'],
  billing: ['read', 'manage'],
  auditLog: ['read'],
  webhook: ['read', 'manage'],
  apiKey: ['manage'],
});

const everyMember = {
  document: ['read', 'create', 'delete'],
  job: ['read', 'create', 'cancel'],
} as const;

const administration = {
  ...everyMember,
  workspace: ['read', 'create', 'update', 'delete'],
  billing: ['read', 'manage'],
  auditLog: ['read'],
  webhook: ['read', 'manage'],
  apiKey: ['manage'],
} as const;

/** The roles of an organization. better-auth and {@link hasPermission} read the same. */
export const roles = {
  owner: accessControl.newRole({ ...ownerAc.statements, ...administration }),
  admin: accessControl.newRole({ ...adminAc.statements, ...administration }),
  member: accessControl.newRole({ ...memberAc.statements, ...everyMember, workspace: ['read', 'create', 'update'] }),
};

export type Role = keyof typeof roles;

/** The roles of a member, as better-auth stores them: separated by commas, without spaces. */
export function parseRoles(stored: string): Role[] {
  return stored.split(',').filter((name): name is Role => Object.hasOwn(roles, name));
}

/** Whether any of the roles has the permission. */
export function hasPermission(held: readonly Role[], permission: Permission): boolean {
  const [resource, action] = permission.split(':') as [string, string];
  return held.some((role) => roles[role].authorize({ [resource]: [action] }).success);
}
