import { expect } from 'chai';
import { loadServerConfig } from '../../base/config/server.ts';
import { useApi } from '../support/use-api.ts';

describe('The limits of a deployment that sets none', () => {
  const { api } = useApi({ env: { WORKER_ENABLED: 'false', RATE_LIMIT_PER_MINUTE: '', TRUST_PROXY: 'true' } });

  it('are 300 requests a minute of one address', async () => {
    const ask = (address: string) => api.request('GET', '/api/v1/health', { headers: { 'x-forwarded-for': address } });
    const first = await ask('203.0.113.1');
    expect(first.headers.get('ratelimit-policy')).to.equal('"requests";q=300;w=60');
    const statuses = (await Promise.all(Array.from({ length: 301 }, () => ask('203.0.113.1')))).map(({ status }) => status);
    expect([statuses.filter((status) => status === 200).length, statuses.filter((status) => status === 429).length]).to.deep.equal([
      299, 2,
    ]);
    expect((await ask('203.0.113.2')).status).to.equal(200);
  });

  it('are the same for paths of sign-in that may be new each time, which its own limits count one by one', async () => {
    const ask = (path: string) => api.request('GET', `/api/auth/${path}`, { headers: { 'x-forwarded-for': '203.0.113.3' } });
    const answers = await Promise.all(Array.from({ length: 302 }, (_, index) => ask(`reset-password/${index}`)));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).to.have.length(2);
    expect(refused[0]?.body.code).to.equal('TOO_MANY_REQUESTS');
    expect(Number(refused[0]?.headers.get('retry-after'))).to.be.within(1, 60);
    expect((await ask('no-such-endpoint')).status).to.equal(429);
    // This has a limit of its own.
    expect((await ask('get-session')).status).to.equal(200);
  });

  it('are half a minute between two looks at the caller of a stream, and a quarter of an hour for its life', () => {
    const { streams, limits } = loadServerConfig({
      NODE_ENV: 'test',
      AUTH_SECRET: 'a'.repeat(32),
      DATABASE_URL: 'postgres://localhost/none',
    });
    expect(streams).to.deep.equal({ recheckMs: 30_000, lifetimeMs: 15 * 60_000 });
    expect(limits).to.include({ requestsPerMinute: 300, searchesPerMinute: 30, questionsPerMinute: 10 });
  });
});
