import { hasPermission, type Role } from '../../../api/auth/permissions.ts';
import { impersonatedAccess, type KeyPermission, keyPermissions, type Permission } from '../../../contract/access.ts';
import type { AnyRoute } from '../../../contract/route.ts';
import type { TestApi, TestUser } from '../../support/api.ts';
import { createKey } from '../../support/api-keys.ts';
import { expectOk } from '../../support/requests.ts';
import type { TenantRows } from './rows.ts';

/** A kind of caller, and what is true of it in the organization whose rows the requests name. */
interface MatrixCaller {
  name: string;
  token?: string;
  /** `nobody`: no session and no key, or one that has ended. */
  is: 'nobody' | 'user' | 'key';
  /** The role of the user, or of the member who is responsible for the key. */
  role?: Role;
  isPlatformAdmin?: boolean;
  isImpersonated?: boolean;
  /** What the key holds. */
  permissions?: readonly KeyPermission[];
  /** Whether the key is of another workspace. */
  isElsewhere?: boolean;
}

export type Verdict = 'let in' | 'UNAUTHORIZED' | 'FORBIDDEN';

/** Operations that show a key of one workspace its own. */
const ofAnyWorkspace = ['workspaces.list'];

/** What a route's access says of a caller. It knows no operation by name, so that a new one is judged like the others. */
export function verdictOn({ metadata: { access, operation } }: AnyRoute, caller: MatrixCaller, input: object): Verdict {
  if (access === 'public') return 'let in';
  if (caller.is === 'nobody') return 'UNAUTHORIZED';
  const inside = (isIn: boolean | undefined) => (isIn ? 'let in' : 'FORBIDDEN');
  const { role } = caller;
  const holds = role !== undefined && (access === 'member' || hasPermission([role], access as Permission));
  if (caller.is === 'key') {
    if (access === 'api-key') return 'let in';
    const isGiven = access === 'member' || caller.permissions?.some((permission) => permission === access);
    return inside(isGiven && holds && (!caller.isElsewhere || ofAnyWorkspace.includes(operation)));
  }
  if (access === 'api-key' || (caller.isImpersonated && !impersonatedAccess.includes(access))) return 'FORBIDDEN';
  if (access === 'platform-admin') return inside(caller.isPlatformAdmin);
  return inside(access === 'signed-in' ? !('organizationId' in input) || role !== undefined : holds);
}

/** Every kind of caller. `others` are the rows of another organization. */
export async function createCallers(api: TestApi, { tenant, organizationId }: TenantRows, others: TenantRows): Promise<MatrixCaller[]> {
  const { db } = api.database;
  const join = async (role: Role): Promise<TestUser> => {
    const user = await api.signUp();
    await api.addMember(organizationId, user, role);
    return user;
  };
  const [admin, member, demoted, left, leaver, banned] = [
    ...[await join('admin'), await join('member'), await join('admin'), await join('owner'), await join('admin'), await join('owner')],
  ] as [TestUser, TestUser, TestUser, TestUser, TestUser, TestUser];
  const [stranger, platformAdmin] = [await api.signUp(), await api.signUp()];
  await api.makePlatformAdmin(platformAdmin);
  const impersonate = async ({ id: userId }: TestUser) => {
    const options = { token: platformAdmin.token, body: { userId } };
    const { headers } = await expectOk(api.request('POST', '/api/auth/admin/impersonate-user', options));
    return headers.get('set-auth-token') ?? '';
  };
  const key = async (options: Parameters<typeof createKey>[2] = {}) => (await createKey(api, tenant, options)).token;
  const body = { organizationId, name: 'Elsewhere', slug: 'elsewhere' };
  const elsewhere = await expectOk(api.request('POST', '/api/v1/workspaces', { token: tenant.owner.token, body }));
  const [demotedKey, suspended, revoked] = [await key({ by: demoted }), await key({ by: leaver }), await createKey(api, tenant)];
  await expectOk(api.request('DELETE', `/api/v1/api-keys/${revoked.id}`, { token: tenant.owner.token }));
  await db.updateTable('member').set({ role: 'member' }).where('userId', '=', demoted.id).execute();
  await db.deleteFrom('member').where('userId', 'in', [left.id, leaver.id]).execute();
  await db.updateTable('user').set({ banned: true }).where('id', '=', banned.id).execute();
  const reading = keyPermissions.filter((permission) => permission.endsWith(':read'));
  const writing = keyPermissions.filter((permission) => !permission.endsWith(':read'));
  return [
    { name: 'nobody', is: 'nobody' },
    { name: 'a wrong token', is: 'nobody', token: 'no.token' },
    { name: 'a banned owner', is: 'nobody', token: banned.token },
    { name: 'a revoked key', is: 'nobody', token: revoked.token },
    { name: 'a key whose member has left', is: 'nobody', token: suspended },
    { name: 'a stranger', is: 'user', token: stranger.token },
    { name: 'the owner of another organization', is: 'user', token: others.tenant.owner.token },
    { name: 'an owner who has left', is: 'user', token: left.token },
    { name: 'a platform admin', is: 'user', token: platformAdmin.token, isPlatformAdmin: true },
    { name: 'an owner', is: 'user', token: tenant.owner.token, role: 'owner' },
    { name: 'an admin', is: 'user', token: admin.token, role: 'admin' },
    { name: 'a member', is: 'user', token: member.token, role: 'member' },
    { name: 'an impersonated owner', is: 'user', token: await impersonate(tenant.owner), role: 'owner', isImpersonated: true },
    { name: 'an impersonated member', is: 'user', token: await impersonate(member), role: 'member', isImpersonated: true },
    { name: 'a key that holds all', is: 'key', token: await key(), role: 'owner', permissions: keyPermissions },
    { name: 'a key that reads', is: 'key', token: await key({ permissions: reading }), role: 'owner', permissions: reading },
    { name: 'a key that writes', is: 'key', token: await key({ permissions: writing }), role: 'owner', permissions: writing },
    { name: 'a key of a demoted admin', is: 'key', token: demotedKey, role: 'member', permissions: keyPermissions },
    { name: 'a key of another organization', is: 'key', token: (await createKey(api, others.tenant)).token, permissions: keyPermissions },
    {
      ...{ name: 'a key of another workspace', is: 'key', token: await key({ workspaceId: elsewhere.body.id }), isElsewhere: true },
      ...{ role: 'owner', permissions: keyPermissions },
    },
  ];
}
