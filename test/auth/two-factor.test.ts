import { request } from 'node:http';
import { expect } from 'chai';
import { noteTokens } from '../support/run-secrets.ts';
import type { Client } from './support/client.ts';
import { type OidcProvider, startOidcProvider } from './support/oidc-provider.ts';
import { type AuthService, startAuthService, webOrigin } from './support/service.ts';
import { totp } from './support/totp.ts';

const password = 'a long password';
/** No authenticator shows it. */
const wrong = { code: 'none' };

describe('Two-factor', () => {
  let service: AuthService;
  let provider: OidcProvider;
  before(async () => {
    provider = await startOidcProvider({ id: 'the-client', secret: 'the-secret' });
    service = await startAuthService({
      PROVIDER_A_ISSUER: provider.issuer,
      PROVIDER_A_CLIENT_ID: 'the-client',
      PROVIDER_A_CLIENT_SECRET: 'the-secret',
    });
  });
  after(async () => {
    await service.stop();
    await provider.stop();
  });

  async function newUser() {
    const client = service.client();
    return { client, ...(await client.signUp()) };
  }

  /** A user who has turned it on. */
  async function newSecured() {
    const user = await newUser();
    const { body } = await user.client.post('/two-factor/enable', { password });
    const { totpURI, backupCodes } = body as { totpURI: string; backupCodes: string[] };
    noteTokens(new URL(totpURI).searchParams.get('secret') ?? '', ...backupCodes);
    const verified = await user.client.post('/two-factor/verify-totp', { code: totp(totpURI) });
    expect(verified.status, JSON.stringify(verified.body)).to.equal(200);
    return { ...user, totpURI, backupCodes };
  }

  async function signIn(email: string, client = service.client(), more: object = {}) {
    return { client, answer: await client.post('/sign-in/email', { email, password, ...more }) };
  }

  /** Signs in as far as the password leads. */
  async function challenge(email: string, client = service.client()): Promise<Client> {
    const { answer } = await signIn(email, client);
    expect(answer.body).to.deep.equal({ twoFactorRedirect: true, twoFactorMethods: ['totp'] });
    expect(answer.headers.get('set-auth-token')).to.equal(null);
    expect((await client.get('/get-session')).body).to.equal(null);
    return client;
  }

  const refused = (answer: { status: number; body: { code?: string; defined?: boolean } }) => {
    expect(answer.body.defined, JSON.stringify(answer.body)).to.equal(true);
    return [answer.status, answer.body.code];
  };
  const entriesOf = async (userId: string) => {
    const rows = await service.db.selectFrom('audit_entry').selectAll().where('target_id', '=', userId).orderBy('id').execute();
    return rows.map(({ action, actor_id, metadata }) => [action, actor_id, metadata]);
  };
  const rowOf = async (userId: string) => {
    const { rows } = await service.database.pool.query('select * from "twoFactor" where "userId" = $1', [userId]);
    return rows[0];
  };

  it('is on once a code was shown, keeps secret and codes encrypted, and is audited', async () => {
    const { client, userId, email } = await newUser();
    expect(refused(await client.post('/two-factor/enable', { password: 'a wrong one' }))).to.deep.equal([400, 'INVALID_PASSWORD']);
    const { body } = await client.post('/two-factor/enable', { password });
    expect(body.backupCodes).to.have.length(10);
    expect((await signIn(email)).answer.body.user).to.include({ twoFactorEnabled: false });
    expect(refused(await client.post('/two-factor/verify-totp', wrong))).to.deep.equal([401, 'INVALID_CODE']);
    const before = client.token;
    expect((await client.post('/two-factor/verify-totp', { code: totp(body.totpURI) })).status).to.equal(200);
    expect(client.token).to.not.equal(before);
    expect((await client.get('/get-session')).body.user).to.include({ id: userId, twoFactorEnabled: true });
    expect(await service.findSession({ authorization: `Bearer ${before}` })).to.equal(undefined);
    const stored = JSON.stringify(await rowOf(userId));
    const secret = new URL(body.totpURI).searchParams.get('secret') ?? '';
    for (const text of [secret, ...body.backupCodes]) expect(stored).to.not.include(text);
    expect(await entriesOf(userId)).to.deep.equal([['user.twoFactor', userId, { enabled: true }]]);
    expect(refused(await client.post('/two-factor/enable', { password }))).to.deep.equal([400, 'TOTP_ALREADY_ENABLED']);
  });

  it('asks for the code after the password, for cookies and for bearer tokens', async () => {
    const { email, userId, totpURI } = await newSecured();
    const client = await challenge(email);
    expect(refused(await client.post('/two-factor/verify-totp', wrong))).to.deep.equal([401, 'INVALID_CODE']);
    expect((await client.get('/get-session')).body).to.equal(null);
    // Applications that still have an old token begin a session, too.
    client.authorization = 'Bearer no.token';
    const verified = await client.post('/two-factor/verify-totp', { code: totp(totpURI) });
    expect(verified.body.user).to.include({ id: userId });
    expect(await service.findSession({ authorization: `Bearer ${verified.headers.get('set-auth-token')}` })).to.include({ userId });
    expect(await service.findSession({ cookie: client.cookieHeader() })).to.include({ userId });
    const other = service.client();
    expect(refused(await other.post('/two-factor/verify-totp', { code: totp(totpURI) }))).to.deep.equal([401, 'INVALID_TWO_FACTOR_COOKIE']);
  });

  it('takes each backup code once, also of two requests at once, and new ones end the old ones', async () => {
    const { email, client, backupCodes } = await newSecured();
    const [first = '', second = ''] = backupCodes;
    const clients = [await challenge(email), await challenge(email)];
    const answers = await Promise.all(clients.map((each) => each.post('/two-factor/verify-backup-code', { code: first })));
    expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
    const again = await (await challenge(email)).post('/two-factor/verify-backup-code', { code: first });
    expect(refused(again)).to.deep.equal([401, 'INVALID_BACKUP_CODE']);
    const made = await client.post('/two-factor/generate-backup-codes', { password });
    const old = await (await challenge(email)).post('/two-factor/verify-backup-code', { code: second });
    expect(refused(old)).to.deep.equal([401, 'INVALID_BACKUP_CODE']);
    const latest = await (await challenge(email)).post('/two-factor/verify-backup-code', { code: made.body.backupCodes[0] });
    expect(latest.status).to.equal(200);
  });

  it('takes five codes for one sign-in, and locks the second factor after ten wrong ones', async () => {
    const { email, userId, totpURI } = await newSecured();
    const show = () => ({ code: totp(totpURI) });
    for (let round = 0; round < 2; round++) {
      const client = await challenge(email);
      for (let n = 0; n < 5; n++) expect(refused(await client.post('/two-factor/verify-totp', wrong))).to.deep.equal([401, 'INVALID_CODE']);
      if (round === 0)
        expect(refused(await client.post('/two-factor/verify-totp', show()))).to.deep.equal([400, 'TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE']);
    }
    const locked = await (await challenge(email)).post('/two-factor/verify-totp', show());
    expect(refused(locked)).to.deep.equal([429, 'ACCOUNT_TEMPORARILY_LOCKED']);
    await service.database.pool.query(`update "twoFactor" set "lockedUntil" = now() where "userId" = $1`, [userId]);
    expect((await (await challenge(email)).post('/two-factor/verify-totp', show())).status).to.equal(200);
  });

  it('is asked for again where a device was trusted, once the password has changed', async () => {
    const { email, totpURI, client: owner } = await newSecured();
    const device = await challenge(email);
    expect((await device.post('/two-factor/verify-totp', { code: totp(totpURI), trustDevice: true })).status).to.equal(200);
    await device.post('/sign-out');
    expect((await signIn(email, device)).answer.body.user).to.include({ email });
    await device.post('/sign-out');
    const newPassword = 'the next long password';
    expect((await owner.post('/change-password', { currentPassword: password, newPassword })).status).to.equal(200);
    const { answer } = await signIn(email, device, { password: newPassword });
    expect(answer.body).to.include({ twoFactorRedirect: true });
  });

  it('is not got around by a new password', async () => {
    const { email } = await newSecured();
    await service.client().post('/request-password-reset', { email });
    const token = /reset-password\/(\w+)\?/.exec(service.mails.findLast(({ to }) => to === email)?.text ?? '')?.[1];
    const newPassword = 'a password of a thief';
    expect((await service.client().post('/reset-password', { token, newPassword })).status).to.equal(200);
    const { answer } = await signIn(email, service.client(), { password: newPassword });
    expect(answer.body).to.include({ twoFactorRedirect: true });
  });

  it('is asked for where a provider signs in, by a page that leads on', async () => {
    const { email, userId, totpURI } = await newSecured();
    await service.db.updateTable('user').set({ emailVerified: true }).where('id', '=', userId).execute();
    provider.profile = { sub: userId, email, email_verified: true, name: 'P' };
    const client = service.client();
    const begun = await client.post('/sign-in/social', { provider: 'provider_a', callbackURL: `${webOrigin}/home?a=b` });
    const back = await fetch(begun.body.url, { redirect: 'manual' });
    const callback = back.headers.get('location') ?? '';
    const answer = await client.get(callback.slice(callback.indexOf('/callback/')));
    const page = new URL(answer.headers.get('location') ?? '');
    expect([answer.status, `${page.origin}${page.pathname}`]).to.deep.equal([302, `${webOrigin}/two-factor`]);
    expect(page.searchParams.get('callbackURL')).to.equal(`${webOrigin}/home?a=b`);
    expect(answer.headers.get('set-auth-token')).to.equal(null);
    expect((await client.get('/get-session')).body).to.equal(null);
    expect((await client.post('/two-factor/verify-totp', { code: totp(totpURI) })).status).to.equal(200);
    expect((await client.get('/get-session')).body.user).to.include({ id: userId });
  });

  it('is turned off with the password', async () => {
    const { client, email, userId } = await newSecured();
    expect(refused(await client.post('/two-factor/disable', { password: 'a wrong one' }))).to.deep.equal([400, 'INVALID_PASSWORD']);
    expect((await client.post('/two-factor/disable', { password })).status).to.equal(200);
    expect(await rowOf(userId)).to.equal(undefined);
    expect((await signIn(email)).answer.body.user).to.include({ twoFactorEnabled: false });
    expect((await entriesOf(userId)).map(([, , metadata]) => metadata)).to.deep.equal([{ enabled: true }, { enabled: false }]);
  });

  it('is begun once, of two requests at once', async () => {
    const { client, userId } = await newUser();
    const answers = await Promise.all([1, 2, 3].map(() => client.post('/two-factor/enable', { password })));
    expect(answers.map(({ status }) => status)).to.include(200);
    for (const answer of answers.filter(({ status }) => status !== 200))
      expect(refused(answer)).to.deep.equal([400, 'TOTP_ALREADY_ENABLED']);
    const { rows } = await service.database.pool.query('select from "twoFactor" where "userId" = $1', [userId]);
    expect(rows).to.have.length(1);
  });
});

describe('REQUIRE_ADMIN_TWO_FACTOR', () => {
  let service: AuthService;
  before(async () => {
    service = await startAuthService({ REQUIRE_ADMIN_TWO_FACTOR: 'true' });
  });
  after(() => service.stop());

  it('lets platform admins do nothing as such before they have turned it on, by cookie or token', async () => {
    const client = service.client();
    const { userId } = await client.signUp();
    await service.db.updateTable('user').set({ role: 'admin' }).where('id', '=', userId).execute();
    const token = service.client();
    token.authorization = `Bearer ${client.token}`;
    for (const each of [client, token]) {
      const answers = [await each.get('/admin/list-users'), await each.post('/admin/set-role', { userId, role: 'user' })];
      for (const { body } of answers) expect(body).to.include({ status: 403, code: 'TWO_FACTOR_REQUIRED', defined: true });
    }
    expect((await client.post('/update-user', { name: 'Root' })).status).to.equal(200);
    const { body } = await client.post('/two-factor/enable', { password });
    await client.post('/two-factor/verify-totp', { code: totp(body.totpURI) });
    expect((await client.get('/admin/list-users')).status).to.equal(200);
    await client.post('/two-factor/disable', { password });
    expect((await client.get('/admin/list-users')).body).to.include({ code: 'TWO_FACTOR_REQUIRED' });
  });

  it('holds for any path that leads to the same endpoint', async () => {
    const client = service.client();
    const { userId } = await client.signUp();
    await service.db.updateTable('user').set({ role: 'admin' }).where('id', '=', userId).execute();
    for (const path of [
      './admin/set-role',
      'x/../admin/set-role',
      '%2e/admin/set-role',
      'x/%2E./admin/set-role',
      'x\\..\\admin/set-role',
    ]) {
      const [status, body] = await postAsWritten(`/api/auth/${path}`, { userId, role: 'user' }, client);
      expect([status, body], path).to.deep.equal([403, { ...body, code: 'TWO_FACTOR_REQUIRED' }]);
    }
    const [status, body] = await postAsWritten('/api/auth/sign-in/../update-user', { name: 'N' }, { token: 'no.token' });
    expect([status, body.code]).to.deep.equal([401, 'UNAUTHORIZED']);
  });

  /** Sends a path as it is written: fetch, and Node with an address, resolve it first. */
  function postAsWritten(path: string, body: object, { token }: { token?: string | undefined }): Promise<[number, { code?: string }]> {
    return new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
      const sent = request(service.url, { method: 'POST', path, headers, agent: false }, async (res) => {
        const chunks = await res.toArray();
        resolve([res.statusCode ?? 0, JSON.parse(Buffer.concat(chunks).toString() || '{}')]);
      });
      sent.on('error', reject).end(JSON.stringify(body));
    });
  }
});
