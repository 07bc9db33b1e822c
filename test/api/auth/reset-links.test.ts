import { expect } from 'chai';
import { useAuthService } from './support/use-auth-service.ts';

describe('Links to a new password', () => {
  const service = useAuthService();

  const newUser = () => service.newUser();

  /** Asks for a link, and returns the token in its mail. */
  async function askForLink(email: string): Promise<string> {
    expect((await service.client().post('/request-password-reset', { email })).status).to.equal(200);
    const mail = service.mails.findLast(({ to, kind }) => to === email && kind === 'password-reset');
    return /reset-password\/(\w+)\?/.exec(mail?.text ?? '')?.[1] ?? '';
  }

  const reset = async (token: string, newPassword = 'another long password') => {
    const { status, body } = await service.client().post('/reset-password', { token, newPassword });
    return status === 200 ? status : body.code;
  };

  const ends: Record<string, (user: Awaited<ReturnType<typeof newUser>>) => Promise<unknown>> = {
    'another of them was used': async ({ email }) => expect(await reset(await askForLink(email))).to.equal(200),
    'the password was changed': ({ client }) =>
      client.post('/change-password', { currentPassword: 'a long password', newPassword: 'one more long password' }),
    'an admin changed the password': async ({ userId }) =>
      (await admin()).post('/admin/set-user-password', { userId, newPassword: 'one more long password' }),
    'an admin changed the address': async ({ userId }) =>
      (await admin()).post('/admin/update-user', { userId, data: { email: `${userId.toLowerCase()}@example.com` } }),
    'an admin removed the user': async ({ userId }) => (await admin()).post('/admin/remove-user', { userId }),
  };

  async function admin() {
    const { client, userId } = await newUser();
    await service.db.updateTable('user').set({ role: 'admin' }).where('id', '=', userId).execute();
    return client;
  }

  for (const [when, end] of Object.entries(ends))
    it(`end all together when ${when}`, async () => {
      const user = await newUser();
      const tokens = [await askForLink(user.email), await askForLink(user.email)];
      await end(user);
      for (const token of tokens) expect(await reset(token)).to.equal('INVALID_TOKEN');
      const { rows } = await service.database.pool.query('select from verification where value = $1', [user.userId]);
      expect(rows).to.deep.equal([]);
    });

  it('are stored as digests, and do not end with those of another user', async () => {
    const [one, other] = [await newUser(), await newUser()];
    const token = await askForLink(one.email);
    const { rows } = await service.database.pool.query('select * from verification where value = $1', [one.userId]);
    expect(rows).to.have.length(1);
    expect(JSON.stringify(rows)).not.to.include(token);
    expect(await reset(await askForLink(other.email))).to.equal(200);
    expect(await reset(token)).to.equal(200);
  });
});
