import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { listAuthEndpoints } from '../../support/auth-endpoints.ts';
import type { Client } from './support/client.ts';
import { billingOn } from './support/service.ts';
import { useAuthService } from './support/use-auth-service.ts';

const password = 'a long password';
const ofAdmin = 'a password of an admin';

/** What an admin who acts as a user may do: look, name, and stop. */
const may = new Set([
  ...['GET /get-session', 'POST /get-session', 'POST /sign-out', 'POST /update-user', 'GET /list-accounts'],
  ...['POST /admin/stop-impersonating', 'POST /admin/has-permission', 'GET /subscription/list'],
  ...['POST /organization/check-slug', 'POST /organization/update', 'POST /organization/set-active', 'POST /organization/has-permission'],
  ...['GET /organization/list', 'GET /organization/get-organization', 'GET /organization/get-full-organization'],
  ...['GET /organization/list-members', 'GET /organization/get-active-member', 'GET /organization/get-active-member-role'],
  ...['GET /organization/get-invitation', 'GET /organization/list-invitations', 'GET /organization/list-user-invitations'],
  ...['GET /organization/list-teams', 'POST /organization/set-active-team', 'GET /organization/list-user-teams'],
  'GET /organization/list-team-members',
]);

describe('Acting as a user', () => {
  const service = useAuthService(billingOn);
  let admin: Client;
  let adminId: string;
  before(async () => {
    admin = service.client();
    ({ userId: adminId } = await admin.enter('Admin'));
    await service.db.updateTable('user').set({ role: 'admin' }).where('id', '=', adminId).execute();
  });

  async function impersonate(userId: string, by = admin): Promise<Client> {
    const client = service.client();
    client.cookies.set('better-auth.session_token', by.cookies.get('better-auth.session_token') ?? '');
    expect((await client.post('/admin/impersonate-user', { userId })).status).to.equal(200);
    return client;
  }

  it('allows what is listed here and nothing else, whatever the endpoint', async () => {
    const user = service.client();
    const { userId } = await user.enter();
    await user.createOrganization();
    const client = await impersonate(userId);
    const refused = async (name: string) => {
      const [method = '', path = ''] = name.split(' ');
      const concrete = path.replaceAll(/:\w+/g, 'x');
      const answer = method === 'GET' ? await client.get(concrete) : await client.post(concrete);
      return answer.body?.code === 'YOU_ARE_IMPERSONATING';
    };
    const names = [...new Set(listAuthEndpoints().map(({ name }) => name))];
    for (const name of names.filter((each) => !may.has(each))) expect(await refused(name), name).to.equal(true);
    // These end the session.
    const last = ['POST /sign-out', 'POST /admin/stop-impersonating'];
    for (const name of may) if (!last.includes(name)) expect(await refused(name), name).to.equal(false);
    expect(names).to.include.members([...may]);
    expect(await refused('POST /two-factor/../change-password')).to.equal(true);
    expect(await refused('POST //change-password')).to.equal(true);
    expect((await client.post('/admin/stop-impersonating')).status).to.equal(200);
    expect((await service.findSession({ cookie: client.cookieHeader() }))?.userId).to.equal(adminId);
  });

  it('begins no session that outlives it, with a password that the admin has set', async () => {
    const user = await service.client().enter();
    await admin.post('/admin/set-user-password', { userId: user.userId, newPassword: ofAdmin });
    const client = await impersonate(user.userId);
    const change = { currentPassword: ofAdmin, newPassword: 'the next password', revokeOtherSessions: true };
    expect((await client.post('/change-password', change)).body).to.include({ status: 403, code: 'YOU_ARE_IMPERSONATING' });
    const sessions = await service.db.selectFrom('session').selectAll().where('userId', '=', user.userId).execute();
    expect(sessions.filter(({ impersonatedBy }) => impersonatedBy === null)).to.have.length(1);
  });

  it('ends with the session that began it, and stays so once its admin signs in again', async () => {
    const compromised = service.client();
    const { userId, email } = await compromised.enter();
    await service.db.updateTable('user').set({ role: 'admin' }).where('id', '=', userId).execute();
    const client = await impersonate((await service.client().enter()).userId, compromised);
    const isLive = async () => (await service.findSession({ cookie: client.cookieHeader() })) !== undefined;
    expect(await isLive()).to.equal(true);
    expect((await admin.post('/admin/revoke-user-sessions', { userId })).status).to.equal(200);
    expect(await isLive()).to.equal(false);
    expect((await compromised.post('/sign-in/email', { email, password })).status).to.equal(200);
    expect(await isLive()).to.equal(false);
    expect((await client.get('/organization/list')).status).to.equal(401);
  });

  it('is not for who has become an admin meanwhile', async () => {
    const user = await service.client().enter();
    const client = await impersonate(user.userId);
    await service.db.updateTable('user').set({ role: 'admin' }).where('id', '=', user.userId).execute();
    expect((await client.get('/admin/list-users')).body).to.include({ status: 403, code: 'YOU_ARE_IMPERSONATING' });
  });
});

describe('A password that an admin has set', () => {
  const service = useAuthService();
  let admin: Client;
  before(async () => {
    admin = await service.enterAdmin();
  });

  const signIn = async (email: string, given: object, client = service.client()) => {
    const { status, body } = await client.post('/sign-in/email', { email, ...given });
    return [status, body.code ?? body.user?.email];
  };

  it('must be changed at the next sign-in with it', async () => {
    const { userId, email } = await service.client().enter();
    await admin.post('/admin/set-user-password', { userId, newPassword: ofAdmin });
    const client = service.client();
    const sessions = () => service.db.selectFrom('session').selectAll().where('userId', '=', userId).execute();
    const before = await sessions();
    expect(await signIn(email, { password }, client)).to.deep.equal([401, 'INVALID_EMAIL_OR_PASSWORD']);
    expect(await signIn(email, { password: ofAdmin }, client)).to.deep.equal([403, 'PASSWORD_CHANGE_REQUIRED']);
    const same = { password: ofAdmin, newPassword: ofAdmin };
    expect(await signIn(email, same, client)).to.deep.equal([403, 'PASSWORD_CHANGE_REQUIRED']);
    for (const [newPassword, code] of [
      ['short', 'PASSWORD_TOO_SHORT'],
      ['x'.repeat(129), 'PASSWORD_TOO_LONG'],
      ['password1', 'PASSWORD_TOO_COMMON'],
    ])
      expect(await signIn(email, { password: ofAdmin, newPassword }, client)).to.deep.equal([400, code]);
    expect(client.token).to.equal(undefined);
    expect(client.cookieHeader()).to.equal('');
    expect(await sessions()).to.deep.equal(before);
    expect(await signIn(email, { password: 'a wrong one', newPassword: 'my own password' })).to.deep.equal([
      401,
      'INVALID_EMAIL_OR_PASSWORD',
    ]);
    // The browser of the admin chooses it.
    expect(await signIn(email, { password: ofAdmin, newPassword: 'my own password' }, admin)).to.deep.equal([200, email]);
    expect(await signIn(email, { password: 'my own password' })).to.deep.equal([200, email]);
    expect(await signIn(email, { password: 'my own password', newPassword: 'not stored at all' })).to.deep.equal([200, email]);
    expect(await signIn(email, { password: 'my own password' })).to.deep.equal([200, email]);
  });

  it('is changed by one of several that sign in with it at once, and the others are not let in', async () => {
    const { userId, email } = await service.client().enter();
    await (await service.enterAdmin()).post('/admin/set-user-password', { userId, newPassword: ofAdmin });
    const sessions = () => service.db.selectFrom('session').select('id').where('userId', '=', userId).execute();
    const before = await sessions();
    // The later ones are compared while the first changes it.
    const answers = Promise.all(
      Array.from({ length: 12 }, async (_, n) => {
        await sleep(n * 30);
        return await signIn(email, { password: ofAdmin, newPassword: `the password no ${n}` });
      }),
    );
    const refused = [401, 'INVALID_EMAIL_OR_PASSWORD'];
    expect((await answers).sort()).to.deep.equal([[200, email], ...Array(11).fill(refused)]);
    expect(await sessions()).to.have.length(before.length + 1);
    expect(service.mails.filter(({ to, subject }) => to === email && subject === 'Your password was changed')).to.have.length(1);
  });
});
