import { expect } from 'chai';
import { sql } from 'kysely';
import type { Client } from './support/client.ts';
import { useAuthService } from './support/use-auth-service.ts';

describe('What sign-in lists', () => {
  const service = useAuthService();

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
});
