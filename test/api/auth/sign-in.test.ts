import { setTimeout as delay } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { sql } from 'kysely';
import { Semaphore } from '../../../base/concurrency/semaphore.ts';
import type { Client } from './support/client.ts';
import { type AuthService, billingOn, webOrigin } from './support/service.ts';
import { useAuthService } from './support/use-auth-service.ts';

describe('Signing up and in', () => {
  const service = useAuthService();

  it('gives curl a session by cookie and a token, without any origin', async () => {
    const client = service.client();
    const { userId, email } = await client.signUp('Ada');
    const again = await service.client().post('/sign-in/email', { email, password: 'a long password' });
    expect(again.status).to.equal(200);
    expect(again.headers.get('set-auth-token')).to.match(/^\w+\.\S+$/);
    const session = await client.get('/get-session');
    expect(session.body.user).to.include({ id: userId, email, name: 'Ada', role: 'user' });
  });

  it('lets a script that keeps its cookies go on without any origin', async () => {
    const client = service.client();
    const { email } = await client.signUp();
    expect((await client.post('/sign-in/email', { email, password: 'a long password' })).status).to.equal(200);
    expect((await client.post('/organization/create', { name: 'Acme', slug: 'kept-cookies' })).status).to.equal(200);
  });

  it('gives Node’s fetch a session, which sends Sec-Fetch-Mode and no origin', async () => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ name: 'Node', email: 'node@example.com', password: 'a long password' });
    const signUp = await fetch(`${service.url}/api/auth/sign-up/email`, { method: 'POST', headers, body });
    expect(signUp.status).to.equal(200);
    const signIn = await fetch(`${service.url}/api/auth/sign-in/email`, { method: 'POST', headers, body });
    expect(signIn.status).to.equal(200);
    const authorization = `Bearer ${signIn.headers.get('set-auth-token')}`;
    const session = await fetch(`${service.url}/api/auth/get-session`, { headers: { authorization } });
    expect(await session.json()).to.have.nested.property('user.email', 'node@example.com');
    const created = await fetch(`${service.url}/api/auth/organization/create`, {
      method: 'POST',
      headers: { ...headers, authorization },
      body: JSON.stringify({ name: 'By fetch', slug: 'by-fetch' }),
    });
    expect(created.status).to.equal(200);
  });

  it('refuses a browser from an origin that is not trusted, and takes a trusted one', async () => {
    const user = { name: 'Eve', email: 'eve@example.com', password: 'a long password' };
    const browser = (origin: string) => ({ origin, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' });
    for (const origin of ['https://evil.example', 'null', `${webOrigin}.evil.example`]) {
      const refused = await service.client().post('/sign-up/email', user, browser(origin));
      expect(refused.status, origin).to.equal(403);
      expect(refused.body.code).to.equal('INVALID_ORIGIN');
      expect(refused.body.message).to.include(`The origin ${origin} is not trusted`).and.include('TRUSTED_ORIGINS');
    }
    expect((await service.client().post('/sign-up/email', user, browser(webOrigin))).status).to.equal(200);
    expect((await service.client().post('/sign-in/email', user, browser(service.url))).status).to.equal(200);
    expect((await service.client().post('/sign-in/email', user, browser('https://evil.example'))).status).to.equal(403);
    const noOrigin = await service.client().post('/sign-in/email', user, { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' });
    expect(noOrigin.status).to.equal(403);
  });

  it('refuses another site that sends the user’s cookie, whatever it asks for', async () => {
    const client = service.client();
    await client.signUp();
    for (const path of ['/sign-out', '/organization/create', '/update-user', '/change-password']) {
      const answer = await client.post(path, { name: 'x', slug: 'xy' }, { origin: 'https://evil.example' });
      expect(answer.status, path).to.equal(403);
    }
    expect((await client.get('/get-session')).body).to.have.property('user');
  });

  it('refuses a redirect to an origin that is not trusted, however it is written', async () => {
    const { email } = await service.client().signUp();
    const paths = ['/..//evil.example', '/.//evil.example', '/a/..//evil.example', '/%2e//evil.example', '/%2E%2e//evil.example/?a=b'];
    for (const callbackURL of ['https://evil.example/', '//evil.example', ...paths]) {
      const answers = [
        await service.client().post('/sign-in/email', { email, password: 'a long password', callbackURL }),
        await service.client().get(`/verify-email?token=x&callbackURL=${encodeURIComponent(callbackURL)}`),
        await service.client().post('/request-password-reset', { email, redirectTo: callbackURL }),
      ];
      for (const { status, body } of answers) expect([status, body.code], callbackURL).to.deep.equal([403, body.code]);
      expect(answers.map(({ body }) => body.code)).to.deep.equal(['INVALID_CALLBACK_URL', 'INVALID_CALLBACK_URL', 'INVALID_REDIRECT_URL']);
    }
    for (const callbackURL of ['/', '/a/../b?c=//d', `${webOrigin}/..//page`]) {
      const answer = await service.client().get(`/verify-email?token=x&callbackURL=${encodeURIComponent(callbackURL)}`);
      expect([answer.status, answer.headers.get('location')?.startsWith('//')], callbackURL).to.deep.equal([302, false]);
    }
  });

  it('sets a cookie that scripts of a page cannot read and other sites do not send', async () => {
    const answer = await service.client().post('/sign-up/email', { name: 'C', email: 'cookie@example.com', password: 'a long password' });
    const cookie = answer.headers.getSetCookie().find((each) => each.startsWith('better-auth.session_token='));
    expect(cookie)
      .to.match(/; HttpOnly/)
      .and.match(/; SameSite=Lax/)
      .and.match(/; Path=\//);
    expect(cookie).not.to.match(/; Secure|; Domain/);
  });

  it('refuses a short password, a wrong one, and an address that is taken', async () => {
    const short = await service.client().post('/sign-up/email', { name: 'S', email: 's@example.com', password: '1234567' });
    expect(short.status).to.equal(400);
    const { email } = await service.client().signUp();
    expect((await service.client().post('/sign-in/email', { email, password: 'another password' })).status).to.equal(401);
    expect((await service.client().post('/sign-up/email', { name: 'S', email, password: 'a long password' })).status).to.equal(422);
  });

  it('does not let a user sign up or become a platform admin, or name a customer of the payment provider', async () => {
    const body = { name: 'R', email: 'r@example.com', password: 'a long password', role: 'admin' };
    expect((await service.client().post('/sign-up/email', body)).status).to.equal(400);
    const client = service.client();
    await client.signUp();
    expect((await client.post('/update-user', { role: 'admin' })).status).to.equal(400);
    expect((await client.post('/update-user', { stripeCustomerId: 'cus_of_another' })).status).to.equal(400);
    expect((await client.post('/admin/set-role', { userId: 'x', role: 'admin' })).status).to.equal(403);
  });

  it('sends no raw token of a session that would do without its signature', async () => {
    const client = service.client();
    await client.signUp();
    const raw = (await client.get('/list-sessions')).body[0].token;
    const session = await service.client().get('/get-session', { authorization: `Bearer ${raw}` });
    expect([session.status, session.body.code]).to.deep.equal([401, 'UNAUTHORIZED']);
  });

  it('sends a link to reset the password, which ends the sessions there were', async () => {
    const client = service.client();
    const { email } = await client.signUp();
    const asked = await service.client().post('/request-password-reset', { email, redirectTo: `${webOrigin}/reset` });
    expect(asked.status).to.equal(200);
    const mail = service.mails.find(({ to }) => to === email);
    const token = /reset-password\/(\w+)/.exec(mail?.text ?? '')?.[1];
    const reset = await service.client().post('/reset-password', { token, newPassword: 'the next password' });
    expect(reset.status).to.equal(200);
    expect((await client.get('/get-session')).body).to.equal(null);
    expect((await service.client().post('/sign-in/email', { email, password: 'the next password' })).status).to.equal(200);
  });

  it('leads to the web application to reset the password, if the request names no page', async () => {
    const { email } = await service.client().signUp();
    for (const redirectTo of [undefined, '']) {
      await service.client().post('/request-password-reset', { email, redirectTo });
      const link = /http:\S+/.exec(service.mails.findLast(({ to }) => to === email)?.text ?? '')?.[0] ?? '';
      const followed = await service.client().get(link.slice(link.indexOf('/reset-password/')));
      expect(followed.headers.get('location')).to.match(new RegExp(`^${webOrigin}/reset-password\\?token=\\w+$`));
    }
  });

  it('lets who has the id of an invitation read and accept it, and lists those of verified addresses only', async () => {
    const { client: guest, id } = await invitedGuest(service);
    expect((await guest.get('/organization/list-user-invitations')).body).to.include({
      status: 403,
      code: 'EMAIL_VERIFICATION_REQUIRED_FOR_INVITATION',
    });
    expect((await guest.get(`/organization/get-invitation?id=${id}`)).status).to.equal(200);
    expect((await guest.post('/organization/accept-invitation', { invitationId: id })).status).to.equal(200);
  });

  /** Signs in with a body of so many bytes whose length is not announced. */
  async function postChunked(path: string, bytes: number) {
    const body = JSON.stringify({ email: 'x@example.com', password: '12345678', more: '' });
    const padded = body.replace('"more":"', `"more":"${'x'.repeat(bytes - body.length)}`);
    const parts = padded.match(/.{1,65536}/g) ?? [];
    const response = await fetch(`${service.url}/api/auth${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: ReadableStream.from(parts.map((part) => new TextEncoder().encode(part))),
      duplex: 'half',
    } as RequestInit);
    return { status: response.status, body: await response.json() };
  }

  it('reads a compressed body, and says of an encoding that is not known that it is none', async () => {
    const { email } = await service.client().signUp();
    const body = JSON.stringify({ email, password: 'a long password' });
    const send = (encoding: string, encoded: Uint8Array<ArrayBuffer>) =>
      fetch(`${service.url}/api/auth/sign-in/email`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-encoding': encoding },
        body: encoded,
      });
    for (const [encoding, compress] of Object.entries({ gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync }))
      expect((await send(encoding, new Uint8Array(compress(body)))).status, encoding).to.equal(200);
    const unknown = await send('zip', new TextEncoder().encode(body));
    expect(await unknown.json()).to.include({ status: 400, code: 'BAD_REQUEST', message: 'unsupported content encoding "zip"' });
    const broken = await send('gzip', new TextEncoder().encode(body));
    expect(await broken.json()).to.include({ status: 400, code: 'BAD_REQUEST', message: 'The body cannot be read.' });
    expect((await send('gzip', new Uint8Array(gzipSync('x'.repeat(10_000_000))))).status).to.equal(413);
  });

  it('does nothing of what a body asks for that is nested too deeply', async () => {
    const more = JSON.parse(`${'['.repeat(64)}${']'.repeat(64)}`);
    const client = service.client();
    await client.signUp();
    const refused = [
      await service.client().post('/sign-up/email', { name: 'D', email: 'deep@example.com', password: 'a long password', more }),
      await client.post('/organization/create', { name: 'Deep', slug: 'deep', more }),
    ];
    for (const { status, body } of refused) expect({ status, ...body }).to.include({ status: 400, code: 'BAD_REQUEST', defined: true });
    expect(refused[0]?.body.message).to.equal('The body is nested deeper than 64 levels.');
    expect(await service.db.selectFrom('user').selectAll().where('email', '=', 'deep@example.com').execute()).to.deep.equal([]);
    expect(await service.db.selectFrom('organization').selectAll().where('slug', '=', 'deep').execute()).to.deep.equal([]);
    const fits = { name: 'Fits', slug: 'fits', more: more[0] };
    expect((await client.post('/organization/create', fits)).status).to.equal(200);
  });

  it('answers what is too large with 413, and what fails inside with 500 and the id of the request', async () => {
    const errorsBefore = service.errors.length;
    const large = await service.client().post('/sign-in/email', { email: 'x@example.com', password: 'x'.repeat(64 * 1024) });
    expect(large).to.deep.include({ status: 413, body: { error: 'payload_too_large', requestId: 'request-1' } });
    expect(await postChunked('/sign-in/email', 64 * 1024 + 1)).to.deep.equal({ status: 413, body: large.body });
    expect(await postChunked('/sign-in/email', 64 * 1024 - 100)).to.include({ status: 401 });
    // Events of Stripe may be larger, but billing is off here.
    expect(await postChunked('/stripe/webhook', 64 * 1024 + 1)).to.include({ status: 413 });
    expect(service.errors.slice(errorsBefore)).to.deep.equal([]);
    const client = service.client();
    await client.signUp();
    await service.database.pool.query('alter table team rename to hidden');
    const broken = await client.post('/organization/create-team', { name: 'T', organizationId: await client.createOrganization() });
    await service.database.pool.query('alter table hidden rename to team');
    expect(broken).to.deep.include({ status: 500, body: { error: 'internal_error', requestId: 'request-1' } });
    expect(service.errors.at(-1)).to.include({ requestId: 'request-1' });
  });
});

describe('Signing in where addresses must be verified', () => {
  const service = useAuthService({
    ...billingOn,
    REQUIRE_EMAIL_VERIFICATION: 'true',
    API_URL: 'https://api.example.com',
    COOKIE_DOMAIN: 'example.com',
  });

  /** Signs up, and returns the path of the link in the mail. */
  async function signUpAndRead(user: { name: string; email: string; password: string }): Promise<string> {
    const signUp = await service.client().post('/sign-up/email', user);
    expect(signUp.headers.getSetCookie()).to.deep.equal([]);
    const link = /https:\S+/.exec(service.mails.findLast(({ to }) => to === user.email)?.text ?? '')?.[0] ?? '';
    return link.slice(link.indexOf('/verify-email'));
  }

  it('opens a session only after the link in the mail was followed, with a cookie for the whole domain', async () => {
    const user = { name: 'V', email: 'v@example.com', password: 'a long password' };
    const link = await signUpAndRead(user);
    expect((await service.client().post('/sign-in/email', user)).status).to.equal(403);
    expect((await service.client().get(link)).status).to.equal(302);
    const signedIn = await service.client().post('/sign-in/email', user);
    expect(signedIn.status).to.equal(200);
    const cookie = signedIn.headers.getSetCookie().find((each) => each.includes('session_token')) ?? '';
    expect(cookie)
      .to.match(/^__Secure-better-auth\.session_token=/)
      .and.match(/; Domain=example\.com/)
      .and.match(/; Secure/);
    const [name = '', value = ''] = (cookie.split(';')[0] ?? '').split('=');
    expect(await service.findSession({ cookie: `${name}=${value}` })).to.include({ email: user.email });
  });

  it('signs nobody in who follows the link of another’s mail', async () => {
    const link = await signUpAndRead({ name: 'A', email: 'attacker@example.com', password: 'a long password' });
    const { client } = await signedIn(service);
    for (const browser of [service.client(), client]) {
      const { status, headers } = await browser.get(link);
      expect({ status, cookies: headers.getSetCookie(), token: headers.get('set-auth-token') }).to.deep.equal({
        ...{ status: 302, cookies: [], token: null },
      });
      await service.db.updateTable('user').set({ emailVerified: false }).where('email', '=', 'attacker@example.com').execute();
    }
  });

  it('gives the account of an address to its owner, not to who signed up with it first', async () => {
    const email = 'squatted@example.com';
    const mailsOf = (kind: string) => service.mails.filter((mail) => mail.to === email && mail.kind === kind);
    const signIn = async (password: string) => {
      const { status, body } = await service.client().post('/sign-in/email', { email, password });
      return body.code ?? status;
    };
    const [ofFirst, ofOwner] = ['a password of a squatter', 'a password of the owner'];
    await service.client().post('/sign-up/email', { name: 'Squatter', email, password: ofFirst });
    expect(await signIn(ofFirst)).to.equal('EMAIL_NOT_VERIFIED');
    expect(mailsOf('password-reset')).to.deep.equal([]);
    const again = await service.client().post('/sign-up/email', { name: 'Owner', email: email.toUpperCase(), password: ofOwner });
    expect(again.body.user).to.include({ email, name: 'Owner' });
    await service.client().post('/send-verification-email', { email });
    const link = /https:\S+/.exec(mailsOf('verification').at(-1)?.text ?? '')?.[0] ?? '';
    expect((await service.client().get(link.slice(link.indexOf('/verify-email')))).status).to.equal(302);
    for (const password of [ofFirst, ofOwner]) expect(await signIn(password)).to.equal('INVALID_EMAIL_OR_PASSWORD');

    const [mail, ...more] = mailsOf('password-reset');
    expect(more).to.deep.equal([]);
    const reset = /https:\S+/.exec(mail?.text ?? '')?.[0] ?? '';
    const page = await service.client().get(reset.slice(reset.indexOf('/reset-password')));
    const token = new URL(page.headers.get('location') ?? '').searchParams.get('token');
    expect((await service.client().post('/reset-password', { token, newPassword: ofOwner })).status).to.equal(200);
    expect(await signIn(ofOwner)).to.equal(200);

    await service.client().post('/sign-up/email', { name: 'Squatter', email, password: ofFirst });
    expect([await signIn(ofOwner), mailsOf('password-reset').length]).to.deep.equal([200, 1]);
  });

  let addresses = 0;
  async function bothAddresses() {
    const [free, taken] = [`free-${++addresses}@example.com`, `taken-${addresses}@example.com`];
    await service.client().post('/sign-up/email', { name: 'T', email: taken, password: 'a long password' });
    return { free, taken };
  }

  /** All of a sign-up's response but what tells one user from another. */
  async function signUpOnce(body: object, email: string): Promise<object> {
    const {
      status,
      headers,
      body: answered,
    } = await service.client().post('/sign-up/email', { password: 'a long password', ...body, email });
    const text = JSON.stringify(answered, (key, value) => (/^(id|email|createdAt|updatedAt)$/.test(key) ? typeof value : value));
    return { status, text, headers: [...headers.keys()].sort() };
  }

  it('signs up with an address that is taken as with one that is new, whatever else is asked for', async () => {
    const name = 'N';
    const bodies = [
      { name },
      { name, image: 'https://example.com/n.png', rememberMe: false, callbackURL: '/welcome' },
      { name, image: '', emailVerified: true, id: 'mine', unknown: 1 },
      { name, role: 'admin' },
      { name, stripeCustomerId: 'cus_1' },
      { name, callbackURL: `/${'x'.repeat(20_000)}` },
      ...[`${name}\0`, ' ', 'x'.repeat(121), null].map((wrong) => ({ name: wrong })),
      { name, image: 'x'.repeat(3_000) },
      { name, password: 'short' },
      { name, callbackURL: 'https://evil.example' },
    ];
    // Few at once: a request waits for its turn to hash a password for ten seconds at most.
    const few = new Semaphore(6);
    const seen = await Promise.all(
      bodies.map(async (body) => {
        const release = await few.acquire();
        const { free, taken } = await bothAddresses();
        const [ofFree, ofTaken] = await Promise.all([signUpOnce(body, free), signUpOnce(body, taken)]);
        release();
        expect(ofTaken, JSON.stringify(body).slice(0, 100)).to.deep.equal(ofFree);
        return ofFree;
      }),
    );
    expect(seen[0]).to.deep.include({ status: 200 }).and.to.have.property('text').that.includes('"role":"user"');
  });

  it('answers sign-ups at once with one new address all alike', async () => {
    const { free, taken } = await bothAddresses();
    const answers = await Promise.all(Array.from({ length: 6 }, () => signUpOnce({ name: 'N' }, free)));
    const ofTaken = await signUpOnce({ name: 'N' }, taken);
    for (const answer of answers) expect(answer).to.deep.equal(ofTaken);
    expect(service.mails.filter(({ to, kind }) => to === free && kind === 'verification')).to.have.length(1);
  });

  it('signs up no faster with an address that is taken', async () => {
    const { free, taken } = await bothAddresses();
    for (const body of [{ name: 'N' }, { name: 'x'.repeat(121) }])
      for (const email of [taken, free]) {
        const begun = performance.now();
        await signUpOnce(body, email);
        expect(performance.now() - begun).to.be.at.least(740);
      }
  });

  it('takes a multiple of that time for a sign-up that had to wait', async () => {
    const { free } = await bothAddresses();
    const held = Promise.withResolvers<void>();
    const locked = service.db.transaction().execute(async (trx) => {
      await sql`lock table "user" in share mode`.execute(trx);
      held.resolve();
      await delay(900);
    });
    await held.promise;
    const begun = performance.now();
    expect(await signUpOnce({ name: 'N' }, free)).to.include({ status: 200 });
    expect(performance.now() - begun).to.be.at.least(1_490);
    await locked;
  });

  it('shows and gives an invitation only to a verified address, also by its id', async () => {
    const { client: guest, id } = await invitedGuest(service);
    const answers = [
      await guest.get('/organization/list-user-invitations'),
      await guest.get(`/organization/get-invitation?id=${id}`),
      await guest.post('/organization/accept-invitation', { invitationId: id }),
      await guest.post('/organization/reject-invitation', { invitationId: id }),
    ];
    const [toRead, toAccept] = ['FOR_INVITATION', 'BEFORE_ACCEPTING_OR_REJECTING_INVITATION'];
    expect(answers.map(({ status, body }) => [status, body.code.replace('EMAIL_VERIFICATION_REQUIRED_', '')])).to.deep.equal([
      ...[toRead, toRead, toAccept, toAccept].map((code) => [403, code]),
    ]);
  });
});

/** Somebody who is invited and signed in, with an address that is not verified, or no longer. */
async function invitedGuest(service: AuthService): Promise<{ client: Client; id: string }> {
  const [owner, client] = await Promise.all([signedIn(service), signedIn(service)]);
  await service.db.updateTable('user').set({ emailVerified: false }).where('email', '=', client.email).execute();
  const organizationId = await owner.client.createOrganization();
  const invitation = { email: client.email, role: 'member', organizationId };
  const { body } = await owner.client.post('/organization/invite-member', invitation);
  return { client: client.client, id: body.id };
}

let people = 0;

async function signedIn(service: AuthService): Promise<{ client: Client; email: string }> {
  const user = { name: 'N', email: `person-${++people}@example.com`, password: 'a long password' };
  await service.client().post('/sign-up/email', user);
  await service.db.updateTable('user').set({ emailVerified: true }).where('email', '=', user.email).execute();
  const client = service.client();
  await client.post('/sign-in/email', user);
  return { client, email: user.email };
}
