import { expect } from 'chai';
import { useAuthService } from './support/use-auth-service.ts';

const production = {
  NODE_ENV: 'production',
  AUTH_SECRET: '8f0d3c6b1a9e4f7285d6c3b0a1978e5f',
  SERVICE_TOKEN: '0b7a4c19e8d25f3660917c2ad4b8e5f1',
  SMTP_URL: 'smtp://localhost:2525',
};

describe('In production', () => {
  const service = useAuthService(production);

  const attempt = (address: string, headers: Record<string, string> = {}) =>
    service
      .client()
      .post('/sign-in/email', { email: 'x@example.com', password: 'a guess, one of many' }, { 'x-test-address': address, ...headers });

  it('the rate limit of sign-in counts by the address that the API sees, which a client cannot write, and says when to come back', async () => {
    const answers = [];
    for (let index = 0; index < 5; index++) {
      const forged = { 'x-client-address': `203.0.113.${index}`, 'x-forwarded-for': `203.0.113.${index}` };
      answers.push(await attempt('198.51.100.7', forged));
    }
    expect(answers.map(({ status }) => status)).to.deep.equal([401, 401, 401, 429, 429]);
    expect(Number(answers[3]?.headers.get('retry-after'))).to.be.within(1, 10);
    expect((await attempt('198.51.100.8')).status).to.equal(401);
    const network = [];
    for (let index = 1; index <= 5; index++) network.push((await attempt(`2001:db8:1:2::${index}`)).status);
    expect(network).to.deep.equal([401, 401, 401, 429, 429]);
    const mapped = [];
    for (const address of ['203.0.113.9', '::ffff:203.0.113.9', '::ffff:cb00:7109', '::FFFF:203.0.113.9'])
      mapped.push((await attempt(address)).status);
    expect(mapped).to.deep.equal([401, 401, 401, 429]);
    await service.database.pool.query(`delete from "rateLimit" where key ~ '^(2001|203)'`);
    const { rows } = await service.database.pool.query('select key from "rateLimit" order by key');
    expect(rows.map(({ key }) => key)).to.deep.equal(['198.51.100.7|/sign-in/email', '198.51.100.8|/sign-in/email']);
  });

  let networks = 0;
  const strange = () => `203.0.${Math.floor(networks / 250)}.${1 + (networks++ % 250)}`;
  const signIn = async (email: string, password: string, address = strange()) => {
    const client = service.client();
    const answer = await client.post('/sign-in/email', { email, password }, { 'x-test-address': address });
    return { client, status: answer.status, code: answer.body.code, retryAfter: Number(answer.headers.get('retry-after')) };
  };
  const guesses = (email: string, count: number) =>
    Promise.all(Array.from({ length: count }, (_, index) => signIn(email, `the guess ${index}`)));
  const later = (seconds: number) => service.database.pool.query('update rate_limit set expire = expire - $1', [seconds * 1_000]);

  async function newUser() {
    const { email, userId } = await service.client().enter();
    await service.db.updateTable('user').set({ emailVerified: true }).where('id', '=', userId).execute();
    return email;
  }

  it('guessing a password meets a delay after ten wrong ones, from however many addresses, whether or not there is the account', async () => {
    for (const email of [await newUser(), 'nobody@example.com']) {
      const statuses = (await guesses(email, 20)).map(({ status }) => status).sort();
      expect(statuses, email).to.deep.equal([...Array(10).fill(401), ...Array(10).fill(429)]);
      const refused = await signIn(email.toUpperCase(), 'a long password');
      expect([refused.status, refused.code]).to.deep.equal([429, 'TOO_MANY_REQUESTS']);
      expect(refused.retryAfter).to.be.within(250, 300);
    }
  });

  it('guessing a password does not keep out who has signed in from there before, and ends after five minutes', async () => {
    const email = await newUser();
    const home = '198.51.100.77';
    expect((await signIn(email, 'a long password', home)).status).to.equal(200);
    await guesses(email, 20);
    expect((await signIn(email, 'a long password')).status).to.equal(429);
    expect((await signIn(email, 'a long password', home)).status).to.equal(200);
    await later(290);
    expect((await signIn(email, 'a long password')).status).to.equal(429);
    await later(11);
    expect((await signIn(email, 'a long password')).status).to.equal(200);
  });

  it('guessing counts wrong passwords only, also those that a session gives', async () => {
    const email = await newUser();
    for (let n = 0; n < 12; n++) expect((await signIn(email, 'a long password')).status).to.equal(200);
    const { client } = await signIn(email, 'a long password');
    const verify = async (password: string) =>
      (await client.post('/verify-password', { password }, { 'x-test-address': strange() })).status;
    for (let n = 0; n < 10; n++) expect(await verify('a wrong password')).to.equal(400);
    expect(await verify('a long password')).to.equal(429);
    expect((await signIn(email, 'a long password')).status).to.equal(200);
  });

  it('a request without a password is no guess, also in a body that is null', async () => {
    const { client } = await signIn(await newUser(), 'a long password');
    for (const body of [null, {}, []])
      expect((await client.post('/verify-password', body, { 'x-test-address': strange() })).status, JSON.stringify(body)).to.equal(400);
  });
});

describe('The rate limit of sign-in, in development', () => {
  const service = useAuthService({ NODE_ENV: 'development' });

  it('is off', async () => {
    const statuses = await Promise.all(
      Array.from(
        { length: 6 },
        async () => (await service.client().post('/sign-in/email', { email: 'x@example.com', password: 'some guess' })).status,
      ),
    );
    expect(new Set(statuses)).to.deep.equal(new Set([401]));
  });
});
