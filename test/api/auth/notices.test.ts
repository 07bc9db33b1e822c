import { expect } from 'chai';
import type { Client } from './support/client.ts';
import { totp } from './support/totp.ts';
import { useAuthService } from './support/use-auth-service.ts';

const password = 'a long password';
const next = 'the next long password';

describe('A user is told by mail', () => {
  const service = useAuthService();
  let admin: Client;
  before(async () => {
    admin = await service.enterAdmin();
  });

  async function newUser() {
    const client = service.client();
    return { client, ...(await client.signUp()) };
  }

  const noticesTo = (email: string) => service.mails.filter(({ to, kind }) => to === email && kind === 'notice');
  const subjectsTo = (email: string) => noticesTo(email).map(({ subject }) => subject);

  async function secure(client: Client): Promise<string[]> {
    const { body } = await client.post('/two-factor/enable', { password });
    await client.post('/two-factor/verify-totp', { code: totp(body.totpURI) });
    return body.backupCodes;
  }

  it('of a new password, also of one that is reset, with when and from where', async () => {
    const { client, email } = await newUser();
    const wrong = { currentPassword: 'a wrong one', newPassword: next };
    await client.post('/change-password', wrong);
    expect(subjectsTo(email)).to.deep.equal([]);
    await client.post('/change-password', { ...wrong, currentPassword: password }, { 'user-agent': 'Firefox/99 http://evil.example' });
    expect(subjectsTo(email)).to.deep.equal(['Your password was changed']);
    const [{ text = '' } = {}] = noticesTo(email);
    expect(text).to.match(
      /^Your password was changed\.\n\nTime: \d{4}-\d\d-\d\d \d\d:\d\d UTC\nAddress: 192\.0\.2\.1\nBrowser: “Firefox 99/,
    );
    expect(text)
      .to.include('If you did not expect this')
      .and.not.match(/https?:|evil\.example/);
    await service.client().post('/request-password-reset', { email });
    const token = /reset-password\/(\w+)\?/.exec(service.mails.findLast(({ to }) => to === email)?.text ?? '')?.[1];
    expect((await service.client().post('/reset-password', { token, newPassword: password })).status).to.equal(200);
    expect(subjectsTo(email)).to.deep.equal(['Your password was changed', 'Your password was changed']);
  });

  it('of two-factor that is turned on or off, and of new backup codes', async () => {
    const { client, email } = await newUser();
    await secure(client);
    expect(subjectsTo(email)).to.deep.equal(['Two-factor was turned on']);
    await client.post('/two-factor/verify-totp', { code: '000000' });
    await client.post('/two-factor/generate-backup-codes', { password });
    await client.post('/two-factor/disable', { password: 'a wrong one' });
    await client.post('/two-factor/disable', { password });
    expect(subjectsTo(email)).to.deep.equal(['Two-factor was turned on', 'New backup codes were made', 'Two-factor was turned off']);
  });

  it('of a new device, which is not the first, nor a newer version of a browser, once the second factor was given', async () => {
    const { client, email } = await newUser();
    const [code] = await secure(client);
    const from = (userAgent: string, address: string) => ({ 'user-agent': userAgent, 'x-test-address': address });
    const edge = (version: number) =>
      `Mozilla/5.0 (Linux; Android 10; K) Chrome/${version}.0.0.0 Mobile Safari/537.36 EdgA/${version}.0.0.0`;
    const known = from(edge(131), '198.51.100.1');
    const signIn = async (headers: Record<string, string>) => {
      const device = service.client();
      await device.post('/sign-in/email', { email, password }, headers);
      return device;
    };
    const before = subjectsTo(email).length;
    const device = await signIn(known);
    await service.client().post('/sign-in/email', { email, password: 'a wrong one' }, known);
    expect(subjectsTo(email)).to.have.length(before);
    await device.post('/two-factor/verify-backup-code', { code }, known);
    expect(subjectsTo(email).slice(before)).to.deep.equal(['A new device has signed in to your account']);
    expect(noticesTo(email).at(-1)?.text).to.include('Address: 198.51.100.1\nBrowser: “Microsoft Edge, Android”');
    await service.database.pool.query(`update "user" set "twoFactorEnabled" = false where email = $1`, [email]);
    for (const again of [known, from(edge(132), '198.51.100.1')]) await signIn(again);
    expect(subjectsTo(email).slice(before)).to.have.length(1);
    await signIn(from('Firefox/30', '198.51.100.2'));
    await signIn(from('Chrome/30', '198.51.100.1'));
    expect(subjectsTo(email).slice(before)).to.have.length(3);
  });

  for (const [path, body, subject] of [
    ['set-user-password', { newPassword: next }, 'A platform admin has set your password'],
    ['update-user', { data: { email: `other-${process.pid}@example.com` } }, 'A platform admin has changed your account'],
    ['set-role', { role: 'admin' }, 'A platform admin has changed your role'],
    ['ban-user', {}, 'A platform admin has banned your account'],
    ['unban-user', {}, 'A platform admin has lifted the ban of your account'],
    ['revoke-user-sessions', {}, 'A platform admin has ended your sessions'],
  ] as const)
    it(`of an admin’s ${path}, but not of an attempt`, async () => {
      const { client, userId, email } = await newUser();
      const other = await newUser();
      await other.client.post(`/admin/${path}`, { userId, ...body });
      await admin.post(`/admin/${path}`, { userId: 'nobody', ...body });
      expect(subjectsTo(email)).to.deep.equal([]);
      expect((await admin.post(`/admin/${path}`, { userId, ...body })).status).to.equal(200);
      expect(subjectsTo(email)).to.deep.equal([subject]);
      expect(noticesTo(email)[0]?.text).to.not.include('Address:');
      expect(client.token).to.not.equal(undefined);
    });

  it('of a session that an admin has ended', async () => {
    const { userId, email } = await newUser();
    const { sessions } = (await admin.post('/admin/list-user-sessions', { userId })).body;
    await admin.post('/admin/revoke-user-session', { sessionToken: sessions[0].token });
    expect(subjectsTo(email)).to.deep.equal(['A platform admin has ended a session of yours']);
  });
});
