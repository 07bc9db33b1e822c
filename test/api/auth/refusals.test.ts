import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { createEmailVerificationToken } from 'better-auth/api';
import { expect } from 'chai';
import { logLine } from '../../../api/auth/log-line.ts';
import type { Answer, Client } from './support/client.ts';
import { billingOn } from './support/service.ts';
import { useAuthService } from './support/use-auth-service.ts';

describe('A refusal of sign-in', () => {
  const service = useAuthService(billingOn);
  let owner: Client;
  let ownerMemberId: string;
  let organizationId: string;
  let teamId: string;
  before(async () => {
    owner = service.client();
    await owner.enter();
    organizationId = await owner.createOrganization();
    ownerMemberId = (await owner.get('/organization/get-active-member')).body.id;
    teamId = (await owner.post('/organization/create-team', { name: 'T', organizationId })).body.id;
  });

  async function newMember(role: string) {
    const client = service.client();
    const user = await client.enter();
    await owner.bring({ client, email: user.email }, { organizationId, role });
    return { client, ...user };
  }

  const newStranger = () => service.newUser();

  const pairOf = ({ status, body }: Pick<Answer, 'status' | 'body'>) => ({ status, code: body.code });

  const returnUrl = '/';
  const forMembers: [method: 'get' | 'post', path: string, body?: object][] = [
    ['post', '/organization/update', { data: { name: 'N' } }],
    ['post', '/organization/invite-member', { email: 'x@example.com', role: 'member' }],
    ['post', '/organization/remove-member', { memberIdOrEmail: 'x@example.com' }],
    ['post', '/organization/update-member-role', { memberId: 'x', role: 'admin' }],
    ['post', '/organization/leave'],
    ['post', '/organization/has-permission', { permissions: { job: ['read'] } }],
    ['post', '/organization/set-active'],
    ['post', '/organization/create-team', { name: 'T' }],
    ['post', '/organization/add-team-member', { teamId: 'x', userId: 'x' }],
    ['post', '/organization/remove-team-member', { teamId: 'x', userId: 'x' }],
    ['post', '/organization/remove-team', { teamId: 'x' }],
    ['post', '/organization/update-team', { teamId: 'x', data: { name: 'N' } }],
    ['get', '/organization/list-members'],
    ['get', '/organization/list-teams'],
    ['get', '/organization/list-invitations'],
    ['get', '/organization/get-organization'],
    ['get', '/organization/get-full-organization'],
    ['get', '/organization/get-active-member-role'],
    ['post', '/subscription/upgrade', { plan: 'pro', successUrl: '/', cancelUrl: '/' }],
    ['post', '/subscription/cancel', { returnUrl }],
    ['post', '/subscription/restore'],
    ['post', '/subscription/billing-portal', { returnUrl }],
    ['get', '/subscription/list'],
  ];

  for (const [method, path, body] of forMembers) {
    it(`is 403 at ${path} for who is no member, and 401 for who is not signed in`, async () => {
      const call = (client: Client) =>
        method === 'get'
          ? client.get(`${path}?organizationId=${organizationId}&referenceId=${organizationId}`)
          : client.post(path, {
              ...body,
              ...(path === '/organization/update-team' ? {} : { organizationId }),
              referenceId: organizationId,
            });
      const { client } = await newStranger();
      if (path === '/organization/update-team')
        await service.db.updateTable('session').set({ activeOrganizationId: organizationId }).execute();
      const refused = await call(client);
      expect(refused.status, JSON.stringify(refused.body)).to.equal(403);
      expect(refused.body).to.include({ defined: true, status: 403 });
      expect(refused.body.code).to.be.a('string').and.not.equal('UNAUTHORIZED');
      const byToken = Object.assign(service.client(), { authorization: `Bearer ${client.token}` });
      expect(pairOf(await call(byToken)), 'by bearer token').to.deep.equal(pairOf(refused));
      const anonymous = await call(service.client());
      expect(pairOf(anonymous)).to.deep.equal({ status: 401, code: 'UNAUTHORIZED' });
    });
  }

  it('is 403 for who is no member of what the session has as its active organization', async () => {
    const { client, userId } = await newStranger();
    await service.db.updateTable('session').set({ activeOrganizationId: organizationId }).where('userId', '=', userId).execute();
    expect((await client.get('/organization/get-active-member')).status).to.equal(403);
    expect((await client.post('/organization/update', { data: { name: 'Mine' } })).status).to.equal(403);
  });

  it('is 403 for an organization that is named as a property of every object', async () => {
    for (const organizationId of ['constructor', '__proto__'])
      for (const path of ['/organization/leave', '/organization/invite-member']) {
        const { status, body } = await owner.post(path, { organizationId, email: 'a@example.com', role: 'member' });
        expect([status, body.code], path).to.deep.equal([403, 'YOU_ARE_NOT_A_MEMBER_OF_THIS_ORGANIZATION']);
      }
  });

  it('is 403 for a member whose role does not suffice', async () => {
    const { client, email } = await newMember('member');
    const other = await newMember('member');
    const attempts = [
      client.post('/organization/remove-member', { memberIdOrEmail: other.email, organizationId }),
      client.post('/organization/remove-member', { memberIdOrEmail: ownerMemberId, organizationId }),
      client.post('/organization/invite-member', { email: 'y@example.com', role: 'member', organizationId }),
      client.post('/organization/update', { data: { name: 'N' }, organizationId }),
      client.post('/organization/update-member-role', { memberId: ownerMemberId, role: 'member', organizationId }),
      client.post('/organization/create-team', { name: 'N', organizationId }),
      client.get(`/organization/list-team-members?teamId=${teamId}`),
      client.get(`/subscription/list?referenceId=${organizationId}`),
    ];
    for (const [index, answer] of (await Promise.all(attempts)).entries()) expect(answer.status, `attempt ${index}`).to.equal(403);
    expect((await owner.get(`/organization/list-members?organizationId=${organizationId}`)).body.members.length).to.equal(3);
    expect((await owner.post('/organization/remove-member', { memberIdOrEmail: email, organizationId })).status).to.equal(200);
  });

  it('is 403 for an admin who removes an owner, and 400 for the only owner who removes himself', async () => {
    const { client } = await newMember('admin');
    const refused = await client.post('/organization/remove-member', { memberIdOrEmail: ownerMemberId, organizationId });
    expect(pairOf(refused)).to.deep.equal({ status: 403, code: 'YOU_ARE_NOT_ALLOWED_TO_DELETE_THIS_MEMBER' });
    const elsewhere = await newStranger();
    await elsewhere.client.createOrganization();
    await owner.bring(elsewhere, { organizationId });
    const removed = await client.post('/organization/remove-member', { memberIdOrEmail: elsewhere.email, organizationId });
    expect(removed.status, 'who owns another organization').to.equal(200);
    const only = await owner.post('/organization/remove-member', { memberIdOrEmail: ownerMemberId, organizationId });
    expect(pairOf(only)).to.deep.equal({ status: 400, code: 'YOU_CANNOT_LEAVE_THE_ORGANIZATION_AS_THE_ONLY_OWNER' });
  });

  it('is 403 for who cancels an invitation of another organization', async () => {
    const invited = await owner.post('/organization/invite-member', { email: 'z@example.com', role: 'member', organizationId });
    const { client } = await newStranger();
    const refused = await client.post('/organization/cancel-invitation', { invitationId: invited.body.id });
    expect(refused.status).to.equal(403);
    expect((await owner.post('/organization/cancel-invitation', { invitationId: 'none' })).status).to.equal(400);
  });

  it('stays 401 for wrong credentials, whatever session the request has', async () => {
    const { client, email } = await newStranger();
    const refused = await client.post('/sign-in/email', { email, password: 'a wrong password' });
    expect(pairOf(refused)).to.deep.equal({ status: 401, code: 'INVALID_EMAIL_OR_PASSWORD' });
    expect((await client.get('/verify-email?token=none')).status).to.equal(401);
    const expired = await createEmailVerificationToken((await service.auth.$context).secret, email, undefined, -1);
    expect(pairOf(await client.get(`/verify-email?token=${expired}`))).to.deep.equal({ status: 401, code: 'TOKEN_EXPIRED' });
    expect((await service.client().get('/organization/list-user-invitations')).status).to.equal(401);
  });

  it('is 400, not 500, for who ends an impersonation without the cookie of the admin’s session', async () => {
    const admin = await newStranger();
    await service.db.updateTable('user').set({ role: 'admin' }).where('id', '=', admin.userId).execute();
    await admin.client.post('/admin/impersonate-user', { userId: (await newStranger()).userId });
    const byToken = await service.client().post('/admin/stop-impersonating', {}, { authorization: `Bearer ${admin.client.token}` });
    expect(pairOf(byToken)).to.deep.equal({ status: 400, code: 'ADMIN_SESSION_NOT_FOUND' });
    expect((await admin.client.post('/admin/stop-impersonating')).status).to.equal(200);
  });

  it('of a role that is unknown has its code, and names the role in the message', async () => {
    const { userId } = await newMember('member');
    const { id: memberId } = await service.db.selectFrom('member').select('id').where('userId', '=', userId).executeTakeFirstOrThrow();
    const invited = await owner.post('/organization/invite-member', { email: 'r@example.com', role: 'chef', organizationId });
    const changed = await owner.post('/organization/update-member-role', { memberId, role: ['member', 'chef'], organizationId });
    const expected = { defined: true, code: 'ROLE_NOT_FOUND', status: 400, message: 'Role not found: chef' };
    expect([invited.body, changed.body]).to.deep.equal([expected, expected]);
  });

  it('of a form is 415, also where better-auth takes forms', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = 'name=N&email=form%40example.com&password=a+long+password';
    for (const path of ['/sign-up/email', '/sign-in/email', '/organization/create']) {
      const response = await fetch(`${service.url}/api/auth${path}`, { method: 'POST', headers, body });
      expect(response.status, path).to.equal(415);
      expect(await response.json(), path).to.include({ defined: true, code: 'UNSUPPORTED_MEDIA_TYPE', status: 415 });
    }
    expect(await service.db.selectFrom('user').select('id').where('email', '=', 'form@example.com').execute()).to.deep.equal([]);
  });

  const unfit = { status: 400, code: 'VALIDATION_ERROR' };

  it('is none if a body is empty, and is 415 if one does not say its type', async () => {
    const json = { 'content-type': 'application/json' };
    const chunked = { 'transfer-encoding': 'chunked' };
    for (const headers of [{}, json, chunked, { ...chunked, ...json }]) {
      const { client } = await newStranger();
      expect((await client.postNothing('/sign-out', headers)).status, JSON.stringify(headers)).to.equal(200);
      expect(pairOf(await client.postNothing('/sign-in/email', headers)), JSON.stringify(headers)).to.deep.equal(unfit);
    }
    const { client } = await newStranger();
    const untyped = new TextEncoder().encode('{}');
    const response = await fetch(`${service.url}/api/auth/sign-out`, {
      method: 'POST',
      body: untyped,
      headers: { cookie: client.cookieHeader() },
    });
    expect(response.status).to.equal(415);
  });

  it('of text that cannot be stored as it is sent is VALIDATION_ERROR, wherever it stands', async () => {
    const { client } = await newStranger();
    const reset = { newPassword: 'a long password', token: 'none' };
    for (const wrong of ['\0', 'a\0b', '\ud800', '\udc00\ud800']) {
      const bodies = [{ ...reset, token: wrong }, { ...reset, more: [{ deep: [wrong] }] }, { ...reset, [wrong]: 1 }, [wrong]];
      for (const body of bodies) expect(pairOf(await service.client().post('/reset-password', body))).to.deep.equal(unfit);
      const { body } = await client.post('/organization/create', { name: wrong, slug: 'unfit' });
      expect(body).to.deep.include({ defined: true, message: '[body.name] Text must be well-formed Unicode without NUL' });
    }
    const paths = ['/organization/get-organization?organizationId=%00', '/organization/list?%00=1', '/reset-password/%00?callbackURL=/'];
    for (const path of paths) expect(pairOf(await client.get(path)), path).to.deep.equal(unfit);
    expect(pairOf(await client.post('/update-user', { name: '😀' }))).to.deep.equal({ status: 200, code: undefined });
    expect(pairOf(await service.client().post('/reset-password', { ...reset, token: '\\u0000' }))).to.deep.equal({
      status: 400,
      code: 'INVALID_TOKEN',
    });
  });

  it('of a body that is no UTF-8 is VALIDATION_ERROR', async () => {
    const send = async (body: Buffer, type: string) => {
      const response = await fetch(`${service.url}/api/auth/sign-in/email`, { method: 'POST', headers: { 'content-type': type }, body });
      return pairOf({ status: response.status, body: await response.json() });
    };
    const [text, json] = [JSON.stringify({ email: 'é@example.com', password: 'é' }), 'application/json'];
    const refused = [
      await send(Buffer.from(text, 'latin1'), json),
      await send(Buffer.from(text, 'latin1'), `${json}; charset=iso-8859-1`),
      await send(Buffer.from(text), `${json}; charset="UTF-16"`),
      await send(Buffer.from(text, 'utf16le'), `${json};charset=utf-16`),
    ];
    for (const pair of refused) expect(pair).to.deep.equal(unfit);
    const taken = { status: 401, code: 'INVALID_EMAIL_OR_PASSWORD' };
    const body = Buffer.from(JSON.stringify({ email: 'nobody@example.com', password: 'é' }));
    for (const type of [json, `${json}; charset=utf-8`, `${json};Charset="UTF8"`]) expect(await send(body, type)).to.deep.equal(taken);
  });

  it('of a value that only the database refuses is VALIDATION_ERROR', async () => {
    const { client } = await newStranger();
    const organizationId = await client.createOrganization();
    const create = async () => pairOf(await client.post('/organization/create-team', { name: 'Long', organizationId }));
    const change = (statement: string) => service.database.pool.query(`alter table team ${statement}`);
    await change(`add column needed varchar(3) not null default ''`);
    for (const defaultValue of ['null', `'long'`]) {
      await change(`alter column needed set default ${defaultValue}`);
      expect(await create(), defaultValue).to.deep.equal(unfit);
    }
    await change('drop column needed');
    expect(await create()).to.include({ status: 200 });
  });

  it('of an address to go on to that is read in more ways than one is 403 in every field', async () => {
    const address = 'https://app.example.com\\@evil.example';
    const fields: [path: string, body: object, field: string, code: string][] = [
      ['/sign-in/social', { provider: 'none' }, 'callbackURL', 'INVALID_CALLBACK_URL'],
      ['/sign-in/social', { provider: 'none' }, 'errorCallbackURL', 'INVALID_ERROR_CALLBACK_URL'],
      ['/sign-in/social', { provider: 'none' }, 'newUserCallbackURL', 'INVALID_NEW_USER_CALLBACK_URL'],
      ['/request-password-reset', { email: 'a@example.com' }, 'redirectTo', 'INVALID_REDIRECT_URL'],
      ...['successUrl', 'cancelUrl', 'returnUrl'].map((field): [string, object, string, string] => [
        '/subscription/upgrade',
        { plan: 'pro' },
        field,
        'INVALID_CALLBACK_URL',
      ]),
    ];
    for (const [path, body, field, code] of fields)
      expect(pairOf(await owner.post(path, { ...body, [field]: address })), field).to.deep.equal({ status: 403, code });
  });

  /** Sends a request line as it is. */
  async function sendRaw(method: string, target: string) {
    const { hostname, port } = new URL(service.url);
    const sent = request({ hostname, port, method, path: target, agent: false });
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return { status: response.statusCode ?? 0, body: await json(response) };
  }

  it('of a method that no endpoint has is 404, also of one that fetch does not know', async () => {
    for (const method of ['TRACE', 'PROPFIND'])
      expect((await sendRaw(method, '/api/auth/get-session')).body, method).to.include({ defined: false, code: 'NOT_FOUND', status: 404 });
  });

  it('of an address to go on to, or of a state, is no error of the service, and its log has nothing of them', async () => {
    const before = service.errors.length;
    const text = 'https://evil.example/a-text-of-the-client';
    const answers = [
      await service.client().post('/sign-in/email', { email: 'a@example.com', password: 'a long password', callbackURL: text }),
      await service.client().get(`/verify-email?token=x&callbackURL=${text}`),
      await service.client().get('/callback/provider_a?code=c&state=none'),
      await owner.post('/delete-user', { password: 'x' }),
    ];
    expect(answers.map(({ status }) => status)).to.deep.equal([403, 403, 302, 400]);
    expect(service.errors.slice(before)).to.deep.equal([]);
    const lines: unknown[][] = [];
    const write = logLine({ warn: (...line: unknown[]) => lines.push(line), error: (...line: unknown[]) => lines.push(line) } as never);
    write('error', `Invalid callbackURL: ${text}`);
    write('error', 'Failed to create session');
    expect(lines.map(([, message]) => message)).to.deep.equal(['Invalid callbackURL', 'Failed to create session']);
  });

  it('has the envelope of the API, with better-auth’s code and message in it', async () => {
    const { client } = await newStranger();
    const message = 'There is nothing at this path.';
    const unknown = { defined: false, code: 'NOT_FOUND', status: 404, message };
    for (const path of ['/nothing', '/sign-in/nothing', '/organization//list']) {
      const answer = await client.post(path);
      expect(answer.headers.get('content-type'), path).to.equal('application/json');
      expect(answer, path).to.deep.include({ status: 404, body: unknown });
    }
    expect(await client.get('/sign-in/email')).to.deep.include({ status: 404, body: unknown });
    const bodies = [
      (await client.post('/sign-in/email', {})).body,
      (await client.post('/sign-in/email', 'text', { 'content-type': 'text/plain' })).body,
      (await client.post('/update-user', { image: 1, name: 'x' }, { origin: 'https://evil.example' })).body,
      (await service.client().get('/list-sessions')).body,
      (await service.client().post('/organization/create', { name: 'N', slug: 'nn' })).body,
      (await client.post('/admin/stop-impersonating')).body,
      (await client.post('/get-session')).body,
    ];
    const expected = [
      [400, 'VALIDATION_ERROR'],
      [415, 'UNSUPPORTED_MEDIA_TYPE'],
      [403, 'INVALID_ORIGIN'],
      [401, 'UNAUTHORIZED'],
      [401, 'UNAUTHORIZED'],
      [400, 'BAD_REQUEST'],
      [405, 'METHOD_NOT_ALLOWED_DEFER_SESSION_REQUIRED'],
    ];
    expect(bodies.map(({ status, code }) => [status, code])).to.deep.equal(expected);
    for (const body of bodies) {
      expect(Object.keys(body).sort()).to.deep.equal(['code', 'defined', 'message', 'status']);
      expect(body).to.include({ defined: true });
      expect(body.message).to.be.a('string').and.not.equal('');
    }
  });
});
