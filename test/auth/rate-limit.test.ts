import { expect } from 'chai';
import { type AuthService, startAuthService } from './support/service.ts';

const production = {
  NODE_ENV: 'production',
  AUTH_SECRET: '8f0d3c6b1a9e4f7285d6c3b0a1978e5f',
  SERVICE_TOKEN: '0b7a4c19e8d25f3660917c2ad4b8e5f1',
  SMTP_URL: 'smtp://localhost:2525',
};

describe('The rate limit of sign-in, in production', () => {
  let service: AuthService;
  before(async () => {
    service = await startAuthService(production);
  });
  after(() => service.stop());

  const attempt = (address: string, headers: Record<string, string> = {}) =>
    service
      .client()
      .post('/sign-in/email', { email: 'x@example.com', password: 'a guess, one of many' }, { 'x-test-address': address, ...headers });

  it('counts by the address that the API sees, which a client cannot write, and says when to come back', async () => {
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
});

describe('The rate limit of sign-in, in development', () => {
  let service: AuthService;
  before(async () => {
    service = await startAuthService({ NODE_ENV: 'development' });
  });
  after(() => service.stop());

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
