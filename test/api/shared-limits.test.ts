import { expect } from 'chai';
import { type Stack, startStack } from '../../local/stack.ts';
import { startTestApi, type Tenant, type TestApi } from '../support/api.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';

const env = {
  LIMITER_STORE: 'postgres',
  RATE_LIMIT_PER_MINUTE: '10',
  SEARCH_LIMIT_PER_MINUTE: '4',
  TRUST_PROXY: 'true',
  WORKER_ENABLED: 'false',
};

describe('Limits that API processes share (LIMITER_STORE=postgres)', () => {
  let api: TestApi;
  let second: Stack;
  let directory: string;
  let tenant: Tenant;
  let addresses = 0;
  const newAddress = () => `198.51.100.${++addresses}`;

  before(async () => {
    api = await startTestApi({ env });
    directory = makeTestDirectory();
    const { AUTH_SECRET, SERVICE_TOKEN } = api.stack.env;
    second = await startStack({
      dataDir: directory,
      parts: ['api'],
      temporalUi: false,
      external: { databaseUrl: api.database.url, temporalAddress: api.temporal.address, aiUrl: api.stack.aiUrl },
      env: { ...env, TEMPORAL_NAMESPACE: api.temporal.namespace, AUTH_SECRET, SERVICE_TOKEN },
    });
    tenant = await api.createTenant();
  });
  after(async () => {
    await second.stop();
    removeTestDirectory(directory);
    await api.stop();
  });

  /** Asks the two processes in turn. */
  async function ask(index: number, path: string, init: RequestInit & { headers: Record<string, string> }) {
    const response = await fetch(`${index % 2 ? second.apiUrl : api.url}${path}`, init);
    return { status: response.status, headers: response.headers, body: (await response.json()) as Record<string, unknown> };
  }

  it('count the requests of an address together', async () => {
    const headers = { 'x-forwarded-for': newAddress() };
    for (let i = 0; i < 10; i++) {
      const answer = await ask(i, '/api/v1/health', { headers });
      expect(answer.status).to.equal(200);
      expect(answer.headers.get('ratelimit')).to.match(new RegExp(`^"requests";r=${9 - i};t=\\d+$`));
    }
    for (const index of [0, 1]) {
      const refused = await ask(index, '/api/v1/health', { headers });
      expect(refused.status).to.equal(429);
      expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 60);
    }
    const other = await ask(1, '/api/v1/health', { headers: { 'x-forwarded-for': newAddress() } });
    expect(other.status).to.equal(200);
  });

  it('count the searches of a user together', async () => {
    const search = (index: number) =>
      ask(index, `/api/v1/workspaces/${tenant.workspaceId}/documents/search`, {
        method: 'POST',
        headers: { 'x-forwarded-for': newAddress(), authorization: `Bearer ${tenant.owner.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ query: 'mirrors' }),
      });
    for (let i = 0; i < 4; i++) expect((await search(i)).status).to.equal(200);
    for (const index of [0, 1]) {
      const refused = await search(index);
      expect(refused.body).to.deep.include({ code: 'TOO_MANY_REQUESTS', message: 'Too many searches — try again in a minute.' });
    }
  });
});
