import { request } from 'node:http';
import { expect } from 'chai';
import { createClockedDatabase } from '../../support/clocked-database.ts';
import { noteTokens } from '../../support/run-secrets.ts';
import type { Client } from './support/client.ts';
import { type OidcProvider, startOidcProvider } from './support/oidc-provider.ts';
import { type AuthService, startAuthService, webOrigin } from './support/service.ts';
import { totp } from './support/totp.ts';
import { useAuthService } from './support/use-auth-service.ts';

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

  const newUser = () => service.newUser();

  /** A user who has turned it on. */
  async function newSecured() {
    const user = await newUser();
    const { body } = await user.client.post('/two-factor/enable', { password });
    const { totpURI, backupCodes } = body as { totpURI: string; backupCodes: string[] };
    noteTokens(new URL(totpURI).searchParams.get('secret') ?? '', ...backupCodes);
    const verified = await user.client.post('/two-factor/verify-totp', { code: totp(totpURI) });
    expect(verified.status, JSON.stringify(verified.body)).to.equal(200);
    await forgetStep(user.userId);
    return { ...user, totpURI, backupCodes };
  }

  /** As if the code of the present 30 seconds had not been given yet. */
  const forgetStep = (userId: string) => service.db.updateTable('twoFactor').set({ lastStep: 0 }).where('userId', '=', userId).execute();

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

  it('takes each code once, also of requests at once, and none that is older', async () => {
    const { client: owner, email, userId } = await newUser();
    const { totpURI } = (await owner.post('/two-factor/enable', { password })).body;
    const give = async (code: string) => refused(await (await challenge(email)).post('/two-factor/verify-totp', { code }));
    const [current, next] = [totp(totpURI), totp(totpURI, 1)];
    expect((await owner.post('/two-factor/verify-totp', { code: current })).status).to.equal(200);
    expect(await give(current)).to.deep.equal([401, 'INVALID_CODE']);
    const clients = [await challenge(email), await challenge(email), await challenge(email)];
    const answers = await Promise.all(clients.map((each) => each.post('/two-factor/verify-totp', { code: next })));
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 401, 401]);
    expect(await give(next)).to.deep.equal([401, 'INVALID_CODE']);
    await service.db
      .updateTable('twoFactor')
      .set({ lastStep: Math.floor(Date.now() / 30_000) + 2 })
      .where('userId', '=', userId)
      .execute();
    expect(await give(totp(totpURI))).to.deep.equal([401, 'INVALID_CODE']);
  });

  it('lets ten of 32 wrong codes at once be compared, by whichever way', async () => {
    const { email } = await newSecured();
    const clients: Client[] = [];
    for (let n = 0; n < 8; n++) clients.push(await challenge(email));
    const paths = ['/two-factor/verify-totp', '/two-factor/verify-backup-code'];
    const attempts = clients.flatMap((client) => [...paths, ...paths].map((path) => client.post(path, { code: '000000' })));
    const codes = (await Promise.all(attempts)).map(({ status }) => status);
    expect(codes.filter((status) => status === 401)).to.have.length(10);
    expect(codes.filter((status) => status === 429)).to.have.length(22);
  });

  it('ends the other sessions when it is turned on, and needs a code in others to be turned off or shown', async () => {
    const { client, email, userId } = await newUser();
    const { client: other } = await signIn(email);
    const { body } = await client.post('/two-factor/enable', { password });
    await client.post('/two-factor/verify-totp', { code: totp(body.totpURI) });
    expect(await service.findSession({ cookie: other.cookieHeader() })).to.equal(undefined);
    expect(await service.findSession({ cookie: client.cookieHeader() })).to.include({ userId });

    const later = await challenge(email);
    await later.post('/two-factor/verify-backup-code', { code: body.backupCodes[0] });
    for (const path of ['disable', 'generate-backup-codes', 'get-totp-uri']) {
      const ask = async (more: object) => refused(await later.post(`/two-factor/${path}`, { password, ...more }));
      expect(await ask({}), path).to.deep.equal([403, 'CODE_REQUIRED']);
      expect(await ask({ code: '000000' }), path).to.deep.equal([401, 'INVALID_CODE']);
      expect(await ask({ code: 'none' }), path).to.deep.equal([401, 'INVALID_BACKUP_CODE']);
    }
    expect((await rowOf(userId)).failedVerificationCount).to.equal(6);
    const [, second, third] = body.backupCodes;
    expect((await later.post('/two-factor/get-totp-uri', { password, code: second })).body).to.have.keys(['totpURI']);
    expect(refused(await later.post('/two-factor/disable', { password, code: second }))).to.deep.equal([401, 'INVALID_BACKUP_CODE']);
    expect((await later.post('/two-factor/disable', { password, code: third })).status).to.equal(200);
    expect(await rowOf(userId)).to.equal(undefined);
  });

  describe('on trusted devices', () => {
    async function newTrusting() {
      const user = await newSecured();
      const device = await challenge(user.email);
      const trusted = { code: totp(user.totpURI), trustDevice: true };
      await device.post('/two-factor/verify-totp', trusted, { 'user-agent': 'Firefox' });
      await device.post('/sign-out');
      await forgetStep(user.userId);
      expect((await signIn(user.email, device)).answer.body.user).to.include({ email: user.email });
      return { ...user, device };
    }
    const isAsked = async (email: string, device: Client) => (await signIn(email, device)).answer.body.twoFactorRedirect === true;

    it('can be listed and ended by their user', async () => {
      const { client, device, email } = await newTrusting();
      expect(await isAsked(email, device)).to.equal(false);
      const { body } = await client.get('/two-factor/list-trusted-devices');
      expect(body).to.have.length(1);
      expect(body[0]).to.have.keys(['id', 'userAgent', 'usedAt', 'expiresAt']);
      expect((await (await newUser()).client.get('/two-factor/list-trusted-devices')).body).to.deep.equal([]);
      expect((await client.post('/two-factor/revoke-trusted-devices')).status).to.equal(200);
      expect((await client.get('/two-factor/list-trusted-devices')).body).to.deep.equal([]);
      expect(await isAsked(email, device)).to.equal(true);
    });

    it('name their browser', async () => {
      const { client, device, email } = await newTrusting();
      await device.post('/sign-in/email', { email, password }, { 'user-agent': `Chrome ${'x'.repeat(600)}` });
      const [{ userAgent }] = (await client.get('/two-factor/list-trusted-devices')).body;
      expect(userAgent)
        .to.match(/^Chrome x+$/)
        .and.have.length(512);
    });

    for (const [what, end] of Object.entries<(user: Awaited<ReturnType<typeof newTrusting>>) => Promise<unknown>>({
      'revokes a session': ({ client }) => client.post('/revoke-session', { token: 'any' }),
      'revokes the other sessions': ({ client }) => client.post('/revoke-other-sessions'),
      'revokes all sessions': ({ client }) => client.post('/revoke-sessions'),
      'turns it off and on': async ({ client, userId }) => {
        await client.post('/two-factor/disable', { password });
        const { body } = await client.post('/two-factor/enable', { password });
        expect((await client.post('/two-factor/verify-totp', { code: totp(body.totpURI) })).status).to.equal(200);
        await forgetStep(userId);
      },
      'is banned for a while': async ({ userId }) => {
        const admin = await newUser();
        await service.db.updateTable('user').set({ role: 'admin' }).where('id', '=', admin.userId).execute();
        await admin.client.post('/admin/ban-user', { userId });
        await admin.client.post('/admin/unban-user', { userId });
      },
      'has a session revoked by an admin': async ({ userId }) => {
        const admin = await newUser();
        await service.db.updateTable('user').set({ role: 'admin' }).where('id', '=', admin.userId).execute();
        const { sessions } = (await admin.client.post('/admin/list-user-sessions', { userId })).body;
        await admin.client.post('/admin/revoke-user-session', { sessionToken: sessions[0].token });
      },
    }))
      it(`is asked for again once the user ${what}`, async () => {
        const user = await newTrusting();
        await end(user);
        expect(await isAsked(user.email, user.device)).to.equal(true);
      });
  });

  it('is turned off with the password where it was turned on', async () => {
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
  const service = useAuthService({ REQUIRE_ADMIN_TWO_FACTOR: 'true' });

  it('lets platform admins do nothing as such before they have turned it on, by cookie or token', async () => {
    const client = service.client();
    const { userId } = await client.enter();
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
    const { userId } = await client.enter();
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

describe('Trusted devices', () => {
  it('are listed until they end by the clock of the database', async () => {
    const database = await createClockedDatabase();
    const service = await startAuthService({}, Promise.resolve(database));
    try {
      const client = service.client();
      const { email } = await client.enter();
      const { body } = await client.post('/two-factor/enable', { password });
      await client.post('/two-factor/verify-totp', { code: totp(body.totpURI) });
      const device = service.client();
      await device.post('/sign-in/email', { email, password });
      await device.post('/two-factor/verify-backup-code', { code: body.backupCodes[0], trustDevice: true });
      const list = async () => (await client.get('/two-factor/list-trusted-devices')).body.length;
      expect(await list()).to.equal(1);
      await service.db
        .updateTable('verification')
        .set({ expiresAt: new Date(Date.now() + 3_600_000) })
        .execute();
      await database.setTime(new Date(Date.now() + 7_200_000));
      expect(await list()).to.equal(0);
    } finally {
      await service.stop();
    }
  });
});
