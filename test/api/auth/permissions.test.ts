import { expect } from 'chai';
import { hasPermission, parseRoles, type Role } from '../../../api/auth/permissions.ts';
import { type Permission, permissions } from '../../../contract/access.ts';
import { useAuthService } from './support/use-auth-service.ts';

const everyone: Role[] = ['owner', 'admin', 'member'];
const administrators: Role[] = ['owner', 'admin'];

const table: Record<Permission, Role[]> = {
  'auditLog:read': administrators,
  'billing:read': administrators,
  'billing:manage': administrators,
  'workspace:read': everyone,
  'workspace:create': everyone,
  'workspace:update': everyone,
  'workspace:delete': administrators,
  'document:read': everyone,
  'document:create': everyone,
  'document:delete': everyone,
  'job:read': everyone,
  'job:create': everyone,
  'job:cancel': everyone,
  'webhook:read': administrators,
  'webhook:manage': administrators,
  'apiKey:manage': administrators,
  'organization:delete': ['owner'],
};

describe('The permissions of roles', () => {
  it('are those of the table', () => {
    for (const permission of permissions)
      expect(
        everyone.filter((role) => hasPermission([role], permission)),
        permission,
      ).to.deep.equal(table[permission]);
  });

  it('adds up where a member has several roles, and is nothing without one', () => {
    expect(hasPermission(parseRoles('member,admin'), 'auditLog:read')).to.equal(true);
    expect(hasPermission([], 'job:read')).to.equal(false);
  });

  it('reads a list of roles as it is stored: a role behind a space, which no row may have, is none', () => {
    expect(parseRoles('owner,admin')).to.deep.equal(['owner', 'admin']);
    expect(parseRoles('member, owner')).to.deep.equal(['member']);
    expect(parseRoles('toString')).to.deep.equal([]);
  });
});

describe('The permissions of better-auth', () => {
  const service = useAuthService();

  it('are the same for every role', async () => {
    const owner = service.client();
    await owner.enter();
    const organizationId = await owner.createOrganization();
    const { userId } = await owner.enter();
    await service.db.insertInto('member').values({ id: 'm', organizationId, userId, role: 'member' }).execute();
    for (const role of everyone) {
      await service.db.updateTable('member').set({ role }).where('id', '=', 'm').execute();
      for (const permission of permissions) {
        const [resource = '', action] = permission.split(':');
        const answer = await owner.post('/organization/has-permission', { organizationId, permissions: { [resource]: [action] } });
        expect(answer.body.success, `${role} ${permission}`).to.equal(hasPermission([role], permission));
      }
    }
  });
});
