import { expect } from 'chai';
import { sql } from 'kysely';
import { checkSession, createFindSession } from '../../../api/auth/session.ts';
import { createDb } from '../../../db/connect.ts';
import type { Client } from './support/client.ts';
import { useAuthService } from './support/use-auth-service.ts';

describe('The session of a request', () => {
  const service = useAuthService();
  let client: Client;
  let user: { userId: string; email: string };
  beforeEach(async () => {
    client = service.client();
    user = await client.enter('Grace');
  });

  const byBearer = () => service.findSession({ authorization: `Bearer ${client.token}` });
  const byCookie = () => service.findSession({ cookie: `theme=dark; ${client.cookieHeader()}` });
  const changeSession = (set: string) => sql.raw(`update session set ${set} where "userId" = '${user.userId}'`).execute(service.db);

  /** Runs `work` while the user's sessions are locked, until so many updates wait for them, so that all of them have read the same. */
  async function whileLocked<T>(work: () => Promise<T>, { waiting }: { waiting: number }): Promise<T> {
    const lock = await service.database.pool.connect();
    await lock.query('begin');
    await lock.query('select from session where "userId" = $1 for update', [user.userId]);
    const result = work();
    for (let count = 0; count < waiting; ) {
      // Not in the transaction, which would see the same activity for ever.
      const { rows } = await service.database.pool.query(
        `select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      count = rows[0].count;
    }
    await lock.query('commit');
    lock.release();
    return await result;
  }

  it('is found by its cookie and by the value of set-auth-token, with the user it belongs to', async () => {
    const caller = await byCookie();
    expect(caller).to.deep.include({ ...user, name: 'Grace', image: null, role: 'user', impersonatedBy: null });
    expect(caller?.createdAt).to.be.instanceOf(Date);
    expect(await byBearer()).to.deep.equal(caller);
    const { body } = await client.get('/get-session');
    expect(caller?.sessionId).to.equal(body.session.id);
  });

  it('is none if a bearer token has no right signature, whatever cookie comes with it', async () => {
    const token = decodeURIComponent(client.token ?? '');
    const [value = '', signature = ''] = token.split('.');
    const forged = [value, `${value}.`, `.${signature}`, `${value}x.${signature}`, `${value}.${signature.slice(4)}`, 'Bearer', '', '%'];
    for (const each of forged) {
      expect(await service.findSession({ authorization: `Bearer ${each}` }), each).to.equal(undefined);
      const headers = { authorization: `Bearer ${each}`, cookie: client.cookieHeader() };
      expect(await service.findSession(headers), each).to.equal(undefined);
      for (const answer of [
        await service.client().get('/get-session', headers),
        await service.client().post('/update-user', { name: 'N' }, headers),
      ])
        expect([answer.status, answer.body.code], each).to.deep.equal([401, 'UNAUTHORIZED']);
    }
    const basic = { authorization: `Basic ${token}` };
    expect(await service.findSession(basic)).to.equal(undefined);
    expect((await service.findSession({ ...basic, cookie: client.cookieHeader() }))?.userId).to.equal(user.userId);
    expect(await service.findSession({})).to.equal(undefined);
  });

  it('can be begun by an application that still sends a token that does not hold', async () => {
    const stale = { authorization: 'Bearer token.signature' };
    const signedIn = await service.client().post('/sign-in/email', { email: user.email, password: 'a long password' }, stale);
    expect([signedIn.status, signedIn.body.user?.email]).to.deep.equal([200, user.email]);
    expect((await service.client().post('/sign-out', {}, stale)).status).to.equal(200);
  });

  it('is the same for better-auth, however a request writes it', async () => {
    const other = service.client();
    await other.enter();
    const [mine, its] = [client, other].map(({ token }) => decodeURIComponent(token ?? ''));
    const name = 'better-auth.session_token';
    const authorizations = [
      `Bearer ${mine}`,
      `BEARER   ${mine}`,
      `bearer ${encodeURIComponent(mine ?? '')}`,
      `Bearer\t${mine}`,
      `Bearer ${mine}\u00a0`,
      `Bearer \u00a0${mine}`,
      `Bearer ${mine}x`,
    ];
    const cookies = [`${name}=${its}`, `${name}=${its}; ${name}=${mine}`, `${name}=x; ${name}=${its}`, ` ${name} = ${its};;`, 'theme=dark'];
    const requests = [
      ...authorizations.flatMap((authorization) => [{ authorization }, ...cookies.map((cookie) => ({ authorization, cookie }))]),
      ...cookies.map((cookie) => ({ cookie })),
    ];
    const found = new Set<string | undefined>();
    for (const headers of requests) {
      const caller = await service.findSession(headers);
      const written = JSON.stringify(headers);
      const { body } = await service.client().get('/get-session', headers);
      expect(body?.user?.id, written).to.equal(caller?.userId);
      const { status } = await service.client().post('/update-user', { name: 'Grace' }, headers);
      expect(status, written).to.equal(caller ? 200 : 401);
      found.add(caller?.userId);
    }
    expect(found.size).to.equal(3);
  });

  it('is each user’s own, also for better-auth, when requests of many overlap', async () => {
    const others = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const other = service.client();
        return { other, ...(await other.enter()) };
      }),
    );
    const email = (index: number) => ({ email: others[index % others.length]?.email, password: 'a long password' });
    await Promise.all(
      others.map(async ({ other, userId }, index) => {
        const again = service.client();
        const [signedIn, read, failed] = await Promise.all([
          again.post('/sign-in/email', email(index)),
          other.get('/get-session'),
          service.client().post('/sign-in/email', { ...email(index + 1), password: 'a wrong password' }),
        ]);
        expect([signedIn.body.user.id, read.body.user.id]).to.deep.equal([userId, userId]);
        expect([failed.status, failed.headers.get('set-auth-token'), failed.headers.getSetCookie()]).to.deep.equal([401, null, []]);
        // What was set beside the response belongs to the same session.
        expect(await service.findSession({ authorization: `Bearer ${again.token}` })).to.include({ userId });
        expect(await service.findSession({ cookie: again.cookieHeader() })).to.include({ userId });
      }),
    );
  });

  it('ends when the user signs out, and when it expires', async () => {
    expect((await client.post('/sign-out', {}, { authorization: `Bearer ${client.token}` })).status).to.equal(200);
    expect(await byBearer()).to.equal(undefined);
    const second = service.client();
    const { email } = await second.enter();
    await sql`update session set "expiresAt" = now() - interval '1 second' where "userId" in (select id from "user" where email = ${email})`.execute(
      service.db,
    );
    expect(await service.findSession({ authorization: `Bearer ${second.token}` })).to.equal(undefined);
    expect((await second.get('/get-session')).body).to.equal(null);
  });

  it('ends when the user is banned, and is back when the ban has ended', async () => {
    const ban = (banned: boolean, banExpires: string) =>
      sql`update "user" set banned = ${banned}, "banExpires" = ${sql.raw(banExpires)} where id = ${user.userId}`.execute(service.db);
    await ban(true, 'null');
    expect(await byCookie()).to.equal(undefined);
    await ban(true, `now() + interval '1 hour'`);
    expect(await byBearer()).to.equal(undefined);
    await ban(true, `now() - interval '1 second'`);
    expect(await byBearer()).to.include({ userId: user.userId });
    await ban(false, 'null');
    expect(await byBearer()).to.include({ userId: user.userId });
  });

  it('costs one query', async () => {
    const queries: string[] = [];
    const db = createDb(service.database.pool).withPlugin({
      transformQuery: ({ node }) => {
        queries.push(node.kind);
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    const findSession = createFindSession(db, service.config);
    expect(await findSession({ cookie: client.cookieHeader() })).to.have.property('userId');
    expect(queries).to.deep.equal(['SelectQueryNode']);
    await findSession({ cookie: 'better-auth.session_token=forged.signature' });
    expect(queries).to.have.length(1);
  });

  it('is extended after a day of use, once, with the cookie that the browser keeps', async () => {
    const expiresAt = async () =>
      (await service.db.selectFrom('session').select('expiresAt').where('userId', '=', user.userId).executeTakeFirstOrThrow()).expiresAt;
    await changeSession(`"createdAt" = now() - interval '23 hours', "expiresAt" = now() + interval '6 days 1 hour'`);
    const early = await expiresAt();
    expect(await byCookie()).not.to.have.property('refreshedCookie');
    expect(await expiresAt()).to.deep.equal(early);

    await changeSession(`"createdAt" = now() - interval '25 hours', "expiresAt" = now() + interval '5 days 23 hours'`);
    const answers = await whileLocked(() => Promise.all([byCookie(), byCookie(), byCookie()]), { waiting: 3 });
    expect((await expiresAt()).getTime() - Date.now()).to.be.within(7 * 86_400_000 - 60_000, 7 * 86_400_000);
    const cookies = answers.flatMap((caller) => caller?.refreshedCookie ?? []);
    expect(cookies).to.have.length(1);
    expect(cookies[0]).to.match(/^better-auth\.session_token=[^;]+; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(cookies[0]?.split(';')[0]).to.equal(`better-auth.session_token=${client.cookies.get('better-auth.session_token')}`);
  });

  it('is extended by a bearer token too, without a cookie: who has none gets none', async () => {
    const use = () => changeSession(`"createdAt" = now() - interval '25 hours', "expiresAt" = now() + interval '5 days 23 hours'`);
    const headers = { authorization: `Bearer ${client.token}` };
    await use();
    expect(await service.findSession(headers)).not.to.have.property('refreshedCookie');
    const { expiresAt } = await service.db.selectFrom('session').selectAll().where('userId', '=', user.userId).executeTakeFirstOrThrow();
    expect(expiresAt.getTime() - Date.now()).to.be.above(6.9 * 86_400_000);
    await use();
    expect((await service.client().get('/list-accounts', headers)).headers.getSetCookie()).to.deep.equal([]);
  });

  it('does not come back by its extended cookie when the request begins another, or ends it', async () => {
    const use = () => changeSession(`"createdAt" = now() - interval '25 hours', "expiresAt" = now() + interval '5 days 23 hours'`);
    const other = await service.client().enter();
    const sessionCookies = ({ headers }: { headers: Headers }) =>
      headers.getSetCookie().filter((cookie) => cookie.startsWith('better-auth.session_token='));
    await use();
    expect(sessionCookies(await client.get('/list-accounts'))).to.have.length(1);
    await use();
    const signIn = await client.post('/sign-in/email', { email: other.email, password: 'a long password' });
    expect(sessionCookies(signIn)).to.have.length(1);
    expect(await byCookie()).to.include({ userId: other.userId });
  });

  it('is not extended when the user did not want to be remembered, nor by better-auth when it comes as a bearer token', async () => {
    const sessions = () =>
      service.db.selectFrom('session').select(['id', 'expiresAt']).where('userId', '=', user.userId).orderBy('id').execute();
    await client.post('/sign-in/email', { email: user.email, password: 'a long password', rememberMe: false });
    const before = await sessions();
    expect(await byBearer()).not.to.have.property('refreshedCookie');
    const answer = await service.client().get('/get-session', { authorization: `Bearer ${client.token}` });
    expect(answer.body.user.id).to.equal(user.userId);
    expect(await sessions()).to.deep.equal(before);
  });

  it('is asked again with one query: how its user stands in an organization now', async () => {
    const organizationId = await client.createOrganization();
    const caller = await byBearer();
    const access = { sessionId: caller?.sessionId ?? '', userId: user.userId, organizationId, permission: 'billing:read' } as const;
    const check = () => checkSession(service.db, access);
    expect(await check()).to.deep.equal({ signedIn: true, role: 'owner' });
    await service.db
      .insertInto('member')
      .values({ id: 'second', organizationId, userId: (await service.client().enter()).userId, role: 'owner' })
      .execute();
    await sql`update member set role = 'member' where "userId" = ${user.userId}`.execute(service.db);
    expect(await check()).to.deep.equal({ signedIn: true, role: null });
    expect(await checkSession(service.db, { ...access, permission: 'job:read' })).to.deep.equal({ signedIn: true, role: 'member' });
    await sql`delete from member where "userId" = ${user.userId}`.execute(service.db);
    expect(await checkSession(service.db, { ...access, permission: 'job:read' })).to.deep.equal({ signedIn: true, role: null });
    expect(await checkSession(service.db, { ...access, sessionId: 'another' })).to.deep.equal({ signedIn: false, role: null });
    await sql`update "user" set banned = true where id = ${user.userId}`.execute(service.db);
    expect(await check()).to.deep.equal({ signedIn: false, role: null });
  });
});
