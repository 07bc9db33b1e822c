import { expect } from 'chai';
import type pg from 'pg';
import { DatabaseUnavailable } from '../../../db/unavailable.ts';
import type { Client } from './support/client.ts';
import { useAuthService } from './support/use-auth-service.ts';

describe('Platform admins', () => {
  const service = useAuthService();
  let admin: Client;
  let adminId: string;
  beforeEach(async () => {
    admin = service.client();
    ({ userId: adminId } = await admin.enter('Admin'));
    await service.db.updateTable('user').set({ role: 'admin' }).where('id', '=', adminId).execute();
  });

  const find = (client: Client) => service.findSession({ cookie: client.cookieHeader() });

  it('ban a user, whose sessions end and who gets no new one', async () => {
    const client = service.client();
    const { userId, email } = await client.enter();
    expect((await admin.post('/admin/ban-user', { userId, banReason: 'spam' })).status).to.equal(200);
    expect(await find(client)).to.equal(undefined);
    const signIn = await service.client().post('/sign-in/email', { email, password: 'a long password' });
    expect(signIn.status).to.equal(403);
    expect((await admin.post('/admin/unban-user', { userId })).status).to.equal(200);
    expect((await service.client().post('/sign-in/email', { email, password: 'a long password' })).status).to.equal(200);
  });

  it('do not act as other admins, nor as anybody once they are no admin any more', async () => {
    const other = await service.client().enter();
    await service.db.updateTable('user').set({ role: 'admin' }).where('id', '=', other.userId).execute();
    expect((await admin.post('/admin/impersonate-user', { userId: other.userId })).status).to.equal(403);
    const user = service.client();
    const { userId } = await user.enter();
    const organizationId = await user.createOrganization();
    await admin.post('/admin/impersonate-user', { userId });
    const changes = [{ role: 'user' }, { role: 'admin', banned: true }, { role: 'admin', banned: false }];
    const found: unknown[] = [];
    for (const change of changes) {
      await service.db.updateTable('user').set(change).where('id', '=', adminId).execute();
      const renamed = { organizationId, data: { name: 'Renamed' } };
      const statuses = [await admin.get('/organization/list'), await admin.post('/organization/update', renamed)];
      found.push([(await find(admin)) !== undefined, ...statuses.map(({ status }) => status)]);
    }
    expect(found).to.deep.equal([
      [false, 401, 401],
      [false, 401, 401],
      [true, 200, 200],
    ]);
  });

  it('give a user one of the known roles, and one only', async () => {
    const { userId } = await service.client().enter();
    const setRole = async (role: unknown) => (await admin.post('/admin/set-role', { userId, role })).status;
    expect(await setRole('owner')).to.equal(400);
    expect(await setRole(['admin', 'user'])).to.equal(400);
    expect(await setRole('admin')).to.equal(200);
    expect(
      (await admin.post('/admin/create-user', { email: 'made@example.com', name: 'M', password: 'a long password', role: 'god' })).status,
    ).to.equal(400);
  });

  it('remove a user, but not the only owner of an organization, who keeps everything', async () => {
    const client = service.client();
    const { userId, email } = await client.enter();
    const organizationId = await client.createOrganization();
    const member = service.client();
    await client.bring({ client: member, email: (await member.enter()).email }, { organizationId });
    for (const role of ['owner', 'admin,owner']) {
      await service.db.updateTable('member').set({ role }).where('userId', '=', userId).execute();
      const refused = await admin.post('/admin/remove-user', { userId });
      expect([refused.status, refused.body.code], role).to.deep.equal([409, 'LAST_OWNER']);
      expect(await find(client), role).to.include({ userId });
    }
    expect((await service.client().post('/sign-in/email', { email, password: 'a long password' })).status).to.equal(200);

    const second = service.client();
    await client.bring({ client: second, email: (await second.enter()).email }, { organizationId, role: 'owner' });
    await service.db
      .updateTable('member')
      .set({ role: 'member,owner' })
      .where('organizationId', '=', organizationId)
      .where('role', '=', 'owner')
      .execute();
    expect((await admin.post('/admin/remove-user', { userId })).status).to.equal(200);
    expect(await find(client)).to.equal(undefined);
  });

  /** Lets queries of better-auth fail that have this text. */
  async function whileFailing<T>(text: string, error: Error, work: () => Promise<T>): Promise<T> {
    const { pool } = service.database;
    const clients = new Set<pg.PoolClient>();
    const connect = pool.connect as () => Promise<pg.PoolClient>;
    const failing = async () => {
      const client = await connect.call(pool);
      const query = client.query.bind(client) as (...query: unknown[]) => unknown;
      if (!clients.has(client))
        client.query = ((...asked: unknown[]) => (String(asked[0]).includes(text) ? Promise.reject(error) : query(...asked))) as never;
      clients.add(client);
      return client;
    };
    Object.assign(pool, { connect: failing });
    try {
      return await work();
    } finally {
      Object.assign(pool, { connect });
      for (const client of clients) Reflect.deleteProperty(client, 'query');
    }
  }

  it('are not told that there are no users if the database does not say so', async () => {
    const list = async (query = '') =>
      (({ status, body }) => [status, body.code ?? body.error])(await admin.get(`/admin/list-users?${query}`));
    const [away, broken] = [new DatabaseUnavailable('away'), new TypeError('broken')];
    expect(await whileFailing('count(', away, () => list())).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
    expect(await whileFailing('count(', broken, () => list())).to.deep.equal([500, 'internal_error']);
    expect(await list('searchOperator=ends_with&searchValue=%5C')).to.deep.equal([400, 'VALIDATION_ERROR']);
    expect(await list()).to.deep.equal([200, undefined]);
  });

  it('are the only ones who may do any of it', async () => {
    const client = service.client();
    const { userId } = await client.enter();
    for (const action of ['ban-user', 'unban-user', 'impersonate-user', 'remove-user', 'revoke-user-sessions']) {
      expect((await client.post(`/admin/${action}`, { userId })).status, action).to.equal(403);
      expect((await service.client().post(`/admin/${action}`, { userId })).status, action).to.equal(401);
    }
  });
});
