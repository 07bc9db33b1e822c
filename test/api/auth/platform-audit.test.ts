import { expect } from 'chai';
import { sql } from 'kysely';
import type { Client, SignedUp } from './support/client.ts';
import { useAuthService } from './support/use-auth-service.ts';

const password = 'a long password';

describe('The audit log of what platform admins do', () => {
  const service = useAuthService();
  let admin: Client;
  let adminUser: SignedUp;
  let user: Client;
  let target: SignedUp;
  beforeEach(async () => {
    admin = service.client();
    adminUser = await admin.enter('Admin');
    await service.db.updateTable('user').set({ role: 'admin' }).where('id', '=', adminUser.userId).execute();
    user = service.client();
    target = await user.enter('Ada');
  });

  const entries = () => service.db.selectFrom('audit_entry').selectAll().orderBy('created_at').orderBy('id').execute();
  const sessionOf = async (of: SignedUp) => {
    const { id } = await service.db.selectFrom('session').select('id').where('userId', '=', of.userId).executeTakeFirstOrThrow();
    return id;
  };
  const byAdmin = () => ({ organization_id: null, actor_id: adminUser.userId, actor_email: adminUser.email, impersonated_by: null });
  const onUser = (action: string, metadata: unknown) => ({ action, target_type: 'user', target_id: target.userId, metadata });

  /** What was entered meanwhile, each entry as who, what and to whom. */
  async function entered(change: () => Promise<{ status: number }>, status = 200) {
    const earlier = (await entries()).length;
    expect((await change()).status).to.equal(status);
    return (await entries()).slice(earlier).map(({ id: _, created_at: __, sequence: ___, ...entry }) => entry);
  }
  const post = (path: string, body: object = {}) => admin.post(`/admin/${path}`, { userId: target.userId, ...body });

  it('has a ban with its reason and end, the sessions that it ended, and the end of the ban', async () => {
    const session = await sessionOf(target);
    const banned = await entered(() => post('ban-user', { banReason: 'spam', banExpiresIn: 3600 }));
    const { banExpires } = await service.db.selectFrom('user').selectAll().where('id', '=', target.userId).executeTakeFirstOrThrow();
    expect(banned).to.deep.equal([
      { ...byAdmin(), ...onUser('user.ban', { reason: 'spam', until: banExpires?.toISOString() }) },
      { ...byAdmin(), action: 'session.revoke', target_type: 'session', target_id: session, metadata: { userId: target.userId } },
    ]);
    expect(await entered(() => post('unban-user'))).to.deep.equal([{ ...byAdmin(), ...onUser('user.unban', null) }]);
    expect(await entered(() => post('unban-user'))).to.deep.equal([]);
  });

  it('has every change of a role, and none where it stays', async () => {
    const changed = await entered(() => post('set-role', { role: 'admin' }));
    expect(changed).to.deep.equal([{ ...byAdmin(), ...onUser('user.role', { from: 'user', to: 'admin' }) }]);
    expect(await entered(() => post('set-role', { role: 'admin' }))).to.deep.equal([]);
    const [own] = await entered(() => admin.post('/admin/set-role', { userId: adminUser.userId, role: 'user' }));
    expect(own).to.deep.include({ ...byAdmin(), action: 'user.role', target_id: adminUser.userId });
  });

  it('has what else an admin changes of a user: fields with their values, a password without', async () => {
    const changed = await entered(() => post('update-user', { data: { name: 'Eve', emailVerified: true } }));
    const metadata = { name: { from: 'Ada', to: 'Eve' }, emailVerified: { from: false, to: true } };
    expect(changed).to.deep.equal([{ ...byAdmin(), ...onUser('user.update', metadata) }]);
    const reset = await entered(() => post('set-user-password', { newPassword: 'another password' }));
    expect(reset).to.deep.equal([{ ...byAdmin(), ...onUser('user.password', null) }]);
  });

  it('has who was created and who was removed', async () => {
    const email = `made-${target.userId.toLowerCase()}@example.com`;
    let id = '';
    const created = await entered(async () => {
      const answer = await admin.post('/admin/create-user', { email, name: 'Made', role: 'user' });
      id = answer.body.user.id;
      return answer;
    });
    const made = { target_type: 'user', target_id: id, metadata: { email, role: 'user' } };
    expect(created).to.deep.equal([{ ...byAdmin(), action: 'user.create', ...made }]);
    const removed = await entered(() => admin.post('/admin/remove-user', { userId: id }));
    expect(removed).to.deep.equal([{ ...byAdmin(), action: 'user.remove', ...made }]);
    await service.db
      .updateTable('session')
      .set({ expiresAt: new Date(0) })
      .where('userId', '=', target.userId)
      .execute();
    expect((await entered(() => post('remove-user'))).map(({ action }) => action)).to.deep.equal(['user.remove']);
  });

  it('has each session that an admin revokes, one or all, and not those that were over', async () => {
    const second = service.client();
    await second.post('/sign-in/email', { email: target.email, password });
    const { token } = await service.db
      .selectFrom('session')
      .select('token')
      .where('id', '=', await sessionOf(target))
      .executeTakeFirstOrThrow();
    const one = await entered(() => admin.post('/admin/revoke-user-session', { sessionToken: token }));
    expect(one.map(({ action, target_type }) => [action, target_type])).to.deep.equal([['session.revoke', 'session']]);
    const left = await sessionOf(target);
    await second.post('/sign-in/email', { email: target.email, password });
    await service.db
      .updateTable('session')
      .set({ expiresAt: new Date(0) })
      .where('id', '=', left)
      .execute();
    const all = await entered(() => post('revoke-user-sessions'));
    expect(all).to.have.length(1);
    expect(all[0]).to.deep.include({ ...byAdmin(), action: 'session.revoke', metadata: { userId: target.userId } });
    expect(all[0]?.target_id).to.not.equal(left);
  });

  it('has when an impersonation begins and ends, and what was done to the user meanwhile', async () => {
    let sessionId = '';
    const began = await entered(async () => {
      const answer = await post('impersonate-user');
      sessionId = answer.body.session.id;
      return answer;
    });
    expect(began).to.deep.equal([{ ...byAdmin(), ...onUser('impersonation.start', { sessionId }) }]);
    const asUser = { ...byAdmin(), actor_id: target.userId, actor_email: target.email, impersonated_by: adminUser.userId };
    const renamed = await entered(() => admin.post('/update-user', { name: 'Renamed' }));
    expect(renamed).to.deep.equal([{ ...asUser, ...onUser('user.update', { name: { from: 'Ada', to: 'Renamed' } }) }]);
    const ended = await entered(() => admin.post('/admin/stop-impersonating'));
    const metadata = { sessionId, startedBy: adminUser.userId };
    expect(ended).to.deep.equal([{ ...asUser, ...onUser('impersonation.stop', metadata) }]);
  });

  it('has no sessions that end because a user has too many, and an impersonation is not one of them', async () => {
    await sql`insert into session (id, token, "userId", "expiresAt", "updatedAt")
      select 'old ' || at || ${target.userId}, 'token ' || at || ${target.userId}, ${target.userId}, now() + interval '1 day', now() - interval '1 hour'
      from generate_series(1, 99) as at`.execute(service.db);
    const own = async () => {
      const sessions = service.db.selectFrom('session').select('id').where('userId', '=', target.userId);
      return (await sessions.where('impersonatedBy', 'is', null).execute()).length;
    };
    expect((await entered(() => post('impersonate-user'))).map(({ action }) => action)).to.deep.equal(['impersonation.start']);
    expect(await own()).to.equal(100);
    const stopped = await entered(() => admin.post('/admin/stop-impersonating'));
    expect(stopped.map(({ action }) => action)).to.deep.equal(['impersonation.stop']);
    // Whoever sends it is an admin until then.
    expect(await entered(() => admin.post('/sign-in/email', { email: target.email, password }))).to.deep.equal([]);
    expect(await own()).to.equal(100);
  });

  it('has the end of an impersonation that is signed out of, or revoked by another admin', async () => {
    await post('impersonate-user');
    const [left, ...more] = await entered(() => admin.post('/sign-out'));
    expect(left).to.include({ action: 'impersonation.stop', actor_id: target.userId, impersonated_by: adminUser.userId });
    expect(more).to.deep.equal([]);

    const [first, second] = [service.client(), service.client()];
    const people = [await first.enter(), await second.enter()];
    const ids = people.map(({ userId }) => userId);
    await service.db.updateTable('user').set({ role: 'admin' }).where('id', 'in', ids).execute();
    await first.post('/admin/impersonate-user', { userId: target.userId });
    const revoked = await entered(() => second.post('/admin/revoke-user-sessions', { userId: target.userId }));
    expect(revoked.map(({ action }) => action).sort()).to.deep.equal(['impersonation.stop', 'session.revoke']);
    for (const entry of revoked) expect(entry).to.include({ actor_id: ids[1], impersonated_by: null });
  });

  it('has nothing of what users and admins do to themselves, nor of what was refused', async () => {
    const earlier = (await entries()).length;
    for (const [client, { email }] of [
      [user, target],
      [admin, adminUser],
    ] as const) {
      await client.post('/sign-in/email', { email, password });
      await client.post('/update-user', { name: 'Myself' });
      await client.post('/change-password', { currentPassword: password, newPassword: 'the next password', revokeOtherSessions: true });
      await client.post('/revoke-sessions');
      await client.post('/sign-in/email', { email, password: 'the next password' });
    }
    for (const action of ['ban-user', 'unban-user', 'impersonate-user', 'remove-user', 'revoke-user-sessions', 'set-role']) {
      expect((await user.post(`/admin/${action}`, { userId: adminUser.userId, role: 'user' })).status, action).to.equal(403);
    }
    await service.client().signUp();
    await user.signUp();
    expect((await user.post('/sign-out')).status).to.equal(200);
    expect((await entries()).slice(earlier)).to.deep.equal([]);
  });

  const changes: { action: string; table: 'user' | 'session'; change(): Promise<{ status: number }> }[] = [
    { action: 'user.ban', table: 'user', change: () => post('ban-user') },
    { action: 'user.role', table: 'user', change: () => post('set-role', { role: 'admin' }) },
    { action: 'user.create', table: 'user', change: () => admin.post('/admin/create-user', { email: 'never@example.com', name: 'Never' }) },
    { action: 'user.remove', table: 'user', change: () => post('remove-user') },
    { action: 'session.revoke', table: 'session', change: () => post('revoke-user-sessions') },
    { action: 'impersonation.start', table: 'session', change: () => post('impersonate-user') },
  ];
  for (const { action, table, change } of changes) {
    it(`has ${action} in the transaction of its change: neither is there without the other`, async () => {
      const rows = () => service.db.selectFrom(table).selectAll().orderBy('id').execute();
      const before = await rows();
      const earlier = (await entries()).length;
      const constraint = `refused_by_a_test`;
      const { pool } = service.database;
      await pool.query(`alter table audit_entry add constraint ${constraint} check (action <> '${action}') not valid`);
      try {
        expect((await change()).status).to.be.at.least(400);
        expect(await rows()).to.deep.equal(before);
        expect((await entries()).slice(earlier).filter((entry) => entry.action === action)).to.deep.equal([]);
      } finally {
        await pool.query(`alter table audit_entry drop constraint ${constraint}`);
      }
    });
  }
});
