/** Every permission of an organization's roles: `resource:action`. */
export const permissions = [
  'auditLog:read',
  'billing:read',
  'billing:manage',
  'workspace:read',
  'workspace:create',
  'workspace:update',
  'workspace:delete',
  'document:read',
  'document:create',
  'document:delete',
  'job:read',
  'job:create',
  'job:cancel',
  'webhook:read',
  'webhook:manage',
  'apiKey:manage',
  'organization:delete',
] as const;

export type Permission = (typeof permissions)[number];

/**
 * What no API key may do: its revocation would not end the keys and the webhooks that it has made, nor bring back an organization, and
 * billing is managed at `/api/auth`, which refuses keys.
 */
type ForPeople = 'apiKey:manage' | 'webhook:manage' | 'billing:manage' | 'organization:delete';
const forPeople: readonly Permission[] = ['apiKey:manage', 'webhook:manage', 'billing:manage', 'organization:delete'] satisfies ForPeople[];

export type KeyPermission = Exclude<Permission, ForPeople>;

/** The permissions that an API key may hold. */
export const keyPermissions = permissions.filter((permission): permission is KeyPermission => !forPeople.includes(permission));

/**
 * Who may call an operation: anyone; anyone signed in; an API key; a member of the organization; a member whose role holds a permission;
 * a platform admin. Declared on every route; both transports and the OpenAPI document read it.
 */
export type Access = 'public' | 'signed-in' | 'api-key' | 'member' | 'platform-admin' | Permission;

/** Whether an access is a permission to do more than read, which a suspended organization does not give. */
export function isForWriting(access: Access): boolean {
  return access.includes(':') && !access.endsWith(':read');
}

/**
 * What a platform admin may do while impersonating a user, within the user's own rights: to look, and the work with workspaces and
 * documents, which spends credits and deletes. Not to make a key or a webhook, which would go on after the session, nor to change the plan
 * or delete the organization.
 */
export const impersonatedAccess: readonly Access[] = [
  ...(['public', 'signed-in', 'member', 'auditLog:read', 'billing:read', 'webhook:read'] as const),
  ...(['workspace:read', 'workspace:create', 'workspace:update', 'workspace:delete'] as const),
  ...(['document:read', 'document:create', 'document:delete', 'job:read', 'job:create', 'job:cancel'] as const),
];
