import { expect } from 'chai';
import { createTestDatabase } from '../../support/database.ts';
import type { Client } from './support/client.ts';
import { type OidcProvider, startOidcProvider } from './support/oidc-provider.ts';
import { type AuthService, startAuthService, webOrigin } from './support/service.ts';
import { totp } from './support/totp.ts';

const registered = { id: 'the-client', secret: 'the-secret' };

function settingsOf({ issuer }: OidcProvider) {
  return { PROVIDER_B_ISSUER: issuer, PROVIDER_B_CLIENT_ID: registered.id, PROVIDER_B_CLIENT_SECRET: registered.secret };
}

describe('Signing in through an OpenID Connect provider', () => {
  let service: AuthService;
  let provider: OidcProvider;
  before(async () => {
    provider = await startOidcProvider(registered);
    provider.available = false;
    service = await startAuthService(settingsOf(provider));
  });
  after(async () => {
    await service.stop();
    await provider.stop();
  });

  const signIn = () => signInAt(service);
  const noticesTo = (email: string) =>
    service.mails.filter(({ to, kind }) => to === email && kind === 'notice').map(({ subject }) => subject);

  it('answers 503 while the provider does not, and goes on once it does, without a restart', async () => {
    const refused = await service.client().post('/sign-in/social', { provider: 'provider_b', callbackURL: webOrigin });
    expect(refused.status).to.equal(503);
    expect(refused.body.code).to.equal('PROVIDER_UNAVAILABLE');
    provider.available = true;
    provider.profile = { sub: 'user-1', email: 'one@example.com', email_verified: true, name: 'One' };
    const { client, location } = await signIn();
    expect(location).to.equal(`${webOrigin}/home`);
    expect(await service.findSession({ cookie: client.cookieHeader() })).to.include({ email: 'one@example.com', name: 'One' });
  });

  it('knows the user again, gives a name to one who has none, and asks for the provider’s endpoints once', async () => {
    const [first, second] = [await signIn(), await signIn()];
    const callers = await Promise.all([first, second].map(({ client }) => service.findSession({ cookie: client.cookieHeader() })));
    expect(callers[0]?.userId).to.equal(callers[1]?.userId);
    const link = service.db
      .selectFrom('account')
      .select(['providerId', 'accountId'])
      .where('userId', '=', callers[0]?.userId ?? '');
    expect(await link.execute()).to.deep.equal([{ providerId: 'provider_b', accountId: 'user-1' }]);
    provider.profile = { sub: 'user-2', email: 'two@example.com', email_verified: false };
    const { client } = await signIn();
    expect(await service.findSession({ cookie: client.cookieHeader() })).to.include({ name: 'two@example.com' });
    expect(provider.discoveries).to.equal(1);
  });

  it('takes an international address as A-labels, and nobody whose address is none', async () => {
    provider.profile = { sub: 'user-4', email: 'O!Brien@B\u00fccher.example', email_verified: true, name: 'Four' };
    const { client } = await signIn();
    expect(await service.findSession({ cookie: client.cookieHeader() })).to.include({ email: 'o!brien@xn--bcher-kva.example' });
    provider.profile = { sub: 'user-5', email: 'five at example', email_verified: true, name: 'Five' };
    const refused = await signIn();
    expect(refused.location).to.include(`${webOrigin}/error?error=email_not_found`);
  });

  it('does not give the account of an address to who only claims that address', async () => {
    const local = service.client();
    const { email } = await local.signUp();
    await service.db.updateTable('user').set({ emailVerified: true }).where('email', '=', email).execute();
    // The second is no claim of the protocol, only the name that a library has for it.
    for (const claims of [{}, { emailVerified: true }]) {
      provider.profile = { sub: 'user-3', email, email_verified: false, name: 'Mallory', ...claims };
      const { client, location } = await signIn();
      expect(location).to.include(`${webOrigin}/error?error=account_not_linked`);
      expect(await service.findSession({ cookie: client.cookieHeader() })).to.equal(undefined);
    }
  });

  it('gives an address to who owns it, from who signed up with it before and never verified it', async () => {
    const squatter = service.client();
    const { userId, email } = await squatter.signUp('Squatter');
    await squatter.createOrganization();
    const { totpURI } = (await squatter.post('/two-factor/enable', { password: 'a long password' })).body;
    expect((await squatter.post('/two-factor/verify-totp', { code: totp(totpURI) })).status).to.equal(200);
    const devices = () => service.db.selectFrom('known_device').select('fingerprint').where('user_id', '=', userId).execute();
    const ofSquatter = await devices();
    expect(ofSquatter).to.have.length(1);
    provider.profile = { sub: 'user-6', email, email_verified: true, name: 'Owner' };
    const { client, location } = await signIn();
    expect(location).to.equal(`${webOrigin}/home`);
    expect(await service.findSession({ cookie: client.cookieHeader() })).to.include({ userId, email });
    expect(await service.findSession({ cookie: squatter.cookieHeader() })).to.equal(undefined);
    expect((await service.client().post('/sign-in/email', { email, password: 'a long password' })).status).to.equal(401);
    const accounts = await service.db.selectFrom('account').select('accountId').where('userId', '=', userId).execute();
    expect(accounts).to.deep.equal([{ accountId: 'user-6' }]);
    expect(await service.db.selectFrom('twoFactor').select('id').where('userId', '=', userId).execute()).to.deep.equal([]);
    const user = service.db.selectFrom('user').select(['emailVerified', 'twoFactorEnabled']).where('id', '=', userId);
    expect(await user.executeTakeFirst()).to.deep.equal({ emailVerified: true, twoFactorEnabled: false });
    expect(await devices())
      .to.have.length(1)
      .and.not.deep.equal(ofSquatter);
    expect(noticesTo(email)).to.deep.equal(['Two-factor was turned on']);
  });

  it('leaves a verified user their password and sessions when a provider is added', async () => {
    const local = service.client();
    const { userId, email } = await local.signUp();
    await service.db.updateTable('user').set({ emailVerified: true }).where('id', '=', userId).execute();
    provider.profile = { sub: 'user-7', email, email_verified: true, name: 'Seven' };
    const { client } = await signIn();
    expect(await service.findSession({ cookie: client.cookieHeader() })).to.include({ userId });
    expect(noticesTo(email)).to.deep.equal(['A sign-in provider was added to your account', 'A new device has signed in to your account']);
    expect(await service.findSession({ cookie: local.cookieHeader() })).to.include({ userId });
    expect((await service.client().post('/sign-in/email', { email, password: 'a long password' })).status).to.equal(200);
  });

  it('is added by who is signed in with the same address, also if the provider says nothing of who has verified it', async () => {
    const { client, userId, email } = await service.newUser();
    const add = () => beginAt(service, '/link-social', client);
    for (const profile of [{ email, email_verified: false }, { email: 'another@example.com' }]) {
      provider.profile = { sub: 'user-9', name: 'Nine', ...profile };
      expect((await add()).location).to.include(`${webOrigin}/error?error=`);
    }
    provider.profile = { sub: 'user-9', email, name: 'Nine' };
    // Who only signs in there may be anybody.
    expect((await signIn()).location).to.include('error=account_not_linked');
    expect((await add()).location).to.equal(`${webOrigin}/home`);
    const { client: again } = await signIn();
    expect(await service.findSession({ cookie: again.cookieHeader() })).to.include({ userId });
    const user = service.db.selectFrom('user').select('emailVerified').where('id', '=', userId);
    expect(await user.executeTakeFirst()).to.deep.equal({ emailVerified: false });
  });

  it('takes an ID token that an app has got, whose device is told of as any other', async () => {
    const email = 'eight@example.com';
    provider.profile = { sub: 'user-8', email, email_verified: true, name: 'Eight' };
    await signIn();
    const idToken = { token: provider.issueIdToken('once'), nonce: 'once' };
    const app = service.client();
    expect((await app.post('/sign-in/social', { provider: 'provider_b', idToken })).body.user).to.include({ email });
    expect(await service.findSession({ cookie: app.cookieHeader() })).to.include({ email });
    expect(noticesTo(email)).to.deep.equal(['A new device has signed in to your account']);
    const forged = { ...idToken, token: `${idToken.token.slice(0, -8)}AAAAAAAA` };
    expect((await service.client().post('/sign-in/social', { provider: 'provider_b', idToken: forged })).body.code).to.equal(
      'INVALID_TOKEN',
    );
  });

  it('knows no provider that is not configured', async () => {
    const answer = await service.client().post('/sign-in/social', { provider: 'provider_a', callbackURL: webOrigin });
    expect(answer.status).to.equal(404);
  });
});

describe('Signing in through a provider where addresses must be verified', () => {
  let service: AuthService;
  let provider: OidcProvider;
  before(async () => {
    provider = await startOidcProvider(registered);
    service = await startAuthService({ REQUIRE_EMAIL_VERIFICATION: 'true', ...settingsOf(provider) });
  });
  after(async () => {
    await service.stop();
    await provider.stop();
  });

  it('opens no session for an address that the provider has not verified, and stores nothing', async () => {
    const profile = { sub: 'user-1', email: 'claimed@example.com', name: 'Mallory' };
    for (const email_verified of [false, 'false']) {
      provider.profile = { ...profile, email_verified };
      const { client, location } = await signInAt(service);
      expect(location, String(email_verified)).to.include(`${webOrigin}/error?error=email_not_found`);
      expect(await service.findSession({ cookie: client.cookieHeader() })).to.equal(undefined);
      const idToken = { token: provider.issueIdToken('once'), nonce: 'once' };
      const { status, body } = await service.client().post('/sign-in/social', { provider: 'provider_b', idToken });
      expect([status, body.code]).to.deep.equal([401, 'USER_EMAIL_NOT_FOUND']);
    }
    for (const table of ['user', 'account', 'session'] as const)
      expect(await service.db.selectFrom(table).select('id').execute(), table).to.deep.equal([]);
    for (const email_verified of [true, 'true', undefined, null]) {
      provider.profile = { ...profile, email_verified };
      const { client, location } = await signInAt(service);
      expect(location).to.equal(`${webOrigin}/home`);
      expect(await service.findSession({ cookie: client.cookieHeader() })).to.include({ email: profile.email });
    }
    provider.profile = { ...profile, email_verified: false };
    expect((await signInAt(service)).location).to.include('error=email_not_found');
  });
});

describe('Signing in through a provider that is not in order', () => {
  let service: AuthService;
  let provider: OidcProvider;
  beforeEach(async () => {
    provider = await startOidcProvider(registered);
    provider.profile = { sub: 'user-1', email: 'one@example.com', email_verified: true, name: 'One' };
    service = await startAuthService(settingsOf(provider));
  });
  afterEach(async () => {
    await service.stop();
    await provider.stop();
  });

  it('is refused as long as its discovery names another issuer, whose tokens would be taken', async () => {
    provider.discovery = { issuer: 'https://another.example.com' };
    const refused = await service.client().post('/sign-in/social', { provider: 'provider_b', callbackURL: webOrigin });
    expect([refused.status, refused.body.code]).to.deep.equal([503, 'PROVIDER_UNAVAILABLE']);
    provider.discovery = {};
    expect((await signInAt(service)).location).to.equal(`${webOrigin}/home`);
  });

  it('knows users by their subject alone, also if discovery does not name the algorithms of tokens', async () => {
    provider.discovery = { id_token_signing_alg_values_supported: undefined };
    expect((await signInAt(service)).location).to.equal(`${webOrigin}/home`);
    provider.profile = { sub: 'user-2', id: 'user-1', email: 'two@example.com', email_verified: true, name: 'Two' };
    const { client } = await signInAt(service);
    expect(await service.findSession({ cookie: client.cookieHeader() })).to.include({ email: 'two@example.com' });
  });

  it('ends with an error if it does not respond in the middle', async () => {
    provider.silent = '/token';
    expect((await signInAt(service)).location).to.equal(`${webOrigin}/error?error=invalid_code`);
  }).timeout(30_000);
});

describe('Signing up through a provider while connections to the database are short', () => {
  let service: AuthService;
  let provider: OidcProvider;
  before(async () => {
    provider = await startOidcProvider(registered);
    service = await startAuthService(settingsOf(provider), createTestDatabase({ poolSize: 1 }));
  });
  after(async () => {
    await service.stop();
    await provider.stop();
  });

  it('takes no second one within a transaction', async () => {
    provider.profile = { sub: 'user-1', email: 'one@example.com', email_verified: true, name: 'One' };
    expect((await signInAt(service)).location).to.equal(`${webOrigin}/home`);
  });
});

function signInAt(service: AuthService) {
  return beginAt(service, '/sign-in/social', service.client());
}

/** Goes to the provider and back. */
async function beginAt(service: AuthService, path: '/sign-in/social' | '/link-social', client: Client) {
  const begun = await client.post(path, {
    provider: 'provider_b',
    callbackURL: `${webOrigin}/home`,
    errorCallbackURL: `${webOrigin}/error`,
  });
  expect(begun.status).to.equal(200);
  const back = await fetch(begun.body.url, { redirect: 'manual' });
  const callback = back.headers.get('location') ?? '';
  expect(callback).to.include(`${service.url}/api/auth/callback/provider_b?`);
  const answer = await client.get(callback.slice(callback.indexOf('/callback/')), { 'user-agent': 'Firefox/1' });
  expect(answer.status).to.equal(302);
  return { client, location: answer.headers.get('location') ?? '' };
}
