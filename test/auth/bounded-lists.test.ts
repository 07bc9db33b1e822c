import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { expect } from 'chai';
import { sql } from 'kysely';
import type { Client } from './support/client.ts';
import { type AuthService, startAuthService } from './support/service.ts';

describe('What sign-in lists', () => {
  let service: AuthService;
  before(async () => {
    service = await startAuthService();
  });
  after(() => service.stop());

  async function newUser(): Promise<{ client: Client; userId: string; email: string }> {
    const client = service.client();
    return { client, ...(await client.signUp()) };
  }

  const signIn = (email: string, headers: Record<string, string> = {}) =>
    service.client().post('/sign-in/email', { email, password: 'a long password' }, headers);

  it('has 512 characters at most of what a browser calls itself', async () => {
    const { client, email } = await newUser();
    await signIn(email, { 'user-agent': 'a'.repeat(8_000) });
    const { body } = await client.get('/list-sessions');
    expect(body.map((session: any) => session.userAgent)).to.include('a'.repeat(512));
    expect(body.map((session: any) => session.userAgent.length).sort()).to.deep.equal([0, 512]);
  });

  it('has the hundred sessions of a user that were used last', async () => {
    const { client, userId, email } = await newUser();
    const other = await newUser();
    await sql`insert into session (id, token, "userId", "expiresAt", "updatedAt")
      select 'session ' || at, 'token ' || at, ${userId}, now() + interval '1 day', now() - interval '1 minute' * at
      from generate_series(1, 150) as at`.execute(service.db);
    expect((await signIn(email)).status).to.equal(200);
    const { body } = await client.get('/list-sessions');
    const ids: string[] = body.map((session: any) => session.id);
    expect(ids).to.have.length(100).and.include('session 98').and.not.include('session 99');
    expect((await other.client.get('/list-sessions')).body).to.have.length(1);
  });

  it('lets sign-ins of one user at once all have their session', async () => {
    const { userId, email } = await newUser();
    await sql`insert into session (id, token, "userId", "expiresAt", "updatedAt")
      select 'old ' || at, 'old token ' || at, ${userId}, now() + interval '1 day', now() - interval '1 hour'
      from generate_series(1, 99) as at`.execute(service.db);
    const answers = await Promise.all(Array.from({ length: 8 }, () => signIn(email)));
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(8).fill(200));
    await signIn(email);
    const sessions = await service.db.selectFrom('session').select('id').where('userId', '=', userId).execute();
    expect(sessions).to.have.length(100);
    expect(sessions.filter(({ id }) => !id.startsWith('old '))).to.have.length(10);
  });

  it('has 500 teams of an organization: one more is refused', async () => {
    const { client } = await newUser();
    const organizationId = await client.createOrganization();
    await sql`insert into team (id, name, "organizationId", "createdAt")
      select 'team ' || at, 'Team', ${organizationId}, now() from generate_series(1, 499) as at`.execute(service.db);
    expect((await client.post('/organization/create-team', { name: 'The last' })).status).to.equal(200);
    const refused = await client.post('/organization/create-team', { name: 'One more' });
    expect([refused.status, refused.body.code]).to.deep.equal([400, 'YOU_HAVE_REACHED_THE_MAXIMUM_NUMBER_OF_TEAMS']);
  });

  it('is read a few at a time by one user, while others are served', async () => {
    const { client, userId } = await newUser();
    const organizationId = await client.createOrganization();
    // Migration 0012 would count them as those of one day.
    await sql`alter table invitation disable trigger user`.execute(service.db);
    await sql`insert into invitation (id, "organizationId", email, role, status, "expiresAt", "createdAt", "inviterId")
      select 'invitation ' || at, ${organizationId}, rpad(at || '@', 250, 'x'), 'member', 'canceled', now(), now(), ${userId}
      from generate_series(1, 10000) as at`.execute(service.db);
    await sql`alter table invitation enable trigger user`.execute(service.db);
    const other = await newUser();
    await other.client.createOrganization();

    const unread = Array.from({ length: 60 }, () => get(client, '/organization/list-invitations'));
    const refused = await Promise.race(unread.map(async (sent) => waitForRefusal(sent)));
    expect(refused.statusCode).to.equal(429);
    expect(Number(refused.headers['retry-after'])).to.be.at.least(1);
    const served = await other.client.get('/organization/list-invitations');
    expect([served.status, served.body]).to.deep.equal([200, []]);
    const started = unread.filter((sent) => sent.res?.statusCode === 200);
    expect(started.length).to.be.lessThan(10);
    for (const sent of unread) sent.destroy();
    expect(service.errors).to.deep.equal([]);
  });

  type Unread = ClientRequest & { res?: IncomingMessage };

  /** Asks for a list, and reads nothing of it. */
  function get(client: Client, path: string): Unread {
    const sent: Unread = request(`${service.url}/api/auth${path}`, { agent: false, headers: { cookie: client.cookieHeader() } });
    sent.on('error', () => {}).once('response', (response) => response.pause());
    sent.end();
    return sent;
  }

  async function waitForRefusal(sent: Unread): Promise<IncomingMessage> {
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return response.statusCode === 200 ? await new Promise(() => {}) : response;
  }
});
