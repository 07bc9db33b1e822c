import { expect } from 'chai';
import { sql } from 'kysely';
import { type Stack, startStack } from '../../ops/local/stack.ts';
import type { Tenant } from '../support/api.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { until } from '../support/processes.ts';
import { withTimes } from '../support/times.ts';
import { useApi } from '../support/use-api.ts';

const env = withTimes(
  { streamRecheck: 500 },
  {
    LIMITER_STORE: 'postgres',
    RATE_LIMIT_PER_MINUTE: '10',
    SEARCH_LIMIT_PER_MINUTE: '4',
    TRUST_PROXY: 'true',
    WORKER_ENABLED: 'false',
  },
);

describe('Limits that API processes share (LIMITER_STORE=postgres)', () => {
  // Two processes start.
  const { api } = useApi({ env });
  let second: Stack;
  let directory: string;
  let tenant: Tenant;
  let addresses = 0;
  const newAddress = () => `198.51.100.${++addresses}`;

  before(async () => {
    directory = makeTestDirectory();
    const { AUTH_SECRET, SERVICE_TOKEN } = api.stack.env;
    second = await startStack({
      dataDir: directory,
      services: ['api'],
      temporalUi: false,
      external: { databaseUrl: api.database.url, temporalAddress: api.temporal.address, aiUrl: api.stack.aiUrl },
      env: { ...env, TEMPORAL_NAMESPACE: api.temporal.namespace, AUTH_SECRET, SERVICE_TOKEN },
    });
    tenant = await api.createTenant();
  });
  after(async () => {
    await second?.stop();
    removeTestDirectory(directory);
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
    const pointsOf = () => sql<{ points: number }>`select sum(points)::int as points from rate_limit`.execute(api.database.db);
    const { rows: before } = await pointsOf();
    for (let index = 0; index < 6; index++) expect((await ask(index, '/api/v1/health', { headers })).status).to.equal(429);
    expect((await pointsOf()).rows, 'who is refused again costs no query').to.deep.equal(before);
    const other = await ask(1, '/api/v1/health', { headers: { 'x-forwarded-for': newAddress() } });
    expect(other.status).to.equal(200);
  });

  it('count the searches of a user together', async () => {
    const search = (index: number, { token } = tenant.owner) =>
      ask(index, `/api/v1/workspaces/${tenant.workspaceId}/documents/search`, {
        method: 'POST',
        headers: { 'x-forwarded-for': newAddress(), authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ query: 'mirrors' }),
      });
    for (let i = 0; i < 4; i++) expect((await search(i)).status).to.equal(200);
    for (const index of [0, 1]) {
      const refused = await search(index);
      expect(refused.body).to.deep.include({ code: 'TOO_MANY_REQUESTS', message: 'Too many searches — try again in a minute.' });
    }
    const colleague = await api.signUp();
    await api.addMember(tenant.organizationId, colleague, 'member');
    expect((await search(0, colleague)).status, 'another member').to.equal(200);
  });

  describe('job streams', () => {
    const leases = () => api.database.db.selectFrom('job_stream_lease').selectAll().where('user_id', '=', tenant.owner.id).execute();

    /** Opens a stream, which holds a lease, or returns the error event that refuses it. */
    async function open(base: string, streamId = ''): Promise<{ refused: Promise<string>; close(): void }> {
      const controller = new AbortController();
      const response = await fetch(`${base}/api/v1/organizations/${tenant.organizationId}/jobs/stream`, {
        headers: { authorization: `Bearer ${tenant.owner.token}`, 'x-forwarded-for': newAddress(), 'stream-id': streamId },
        signal: controller.signal,
      });
      expect(response.status).to.equal(200);
      const refused = response.text();
      refused.catch(() => {});
      return { refused, close: () => controller.abort() };
    }

    it('let five of a user in altogether, and the sixth once one has closed', async () => {
      const streams: Awaited<ReturnType<typeof open>>[] = [];
      for (let i = 0; i < 5; i++) {
        streams.push(await open(i % 2 ? second.apiUrl : api.url));
        await until(async () => (await leases()).length === i + 1);
      }
      for (const base of [api.url, second.apiUrl]) {
        const refusal = await (await open(base)).refused;
        expect(refusal).to.match(/^retry: 3000\n\nevent: error\nretry: 60000\ndata: /);
        const error = JSON.parse(/data: (.*)/.exec(refusal)?.[1] ?? '');
        expect(error).to.deep.include({ defined: true, code: 'TOO_MANY_REQUESTS', status: 429 });
      }
      streams[1]?.close();
      await until(async () => (await leases()).length === 4);
      streams.push(await open(api.url));
      await until(async () => (await leases()).length === 5);
      for (const stream of streams) stream.close();
      await until(async () => (await leases()).length === 0);
    });

    it('let a connection take the place of an earlier one of the same stream, which ends, also in another process', async () => {
      const streams = [await open(api.url, 'one')];
      for (let i = 0; i < 4; i++) streams.push(await open(api.url));
      await until(async () => (await leases()).length === 5);
      expect(await (await open(second.apiUrl, 'other')).refused).to.include('TOO_MANY_REQUESTS');
      streams.push(await open(second.apiUrl, 'one'));
      expect(await streams[0]?.refused, 'ends without an error').to.not.include('event: error');
      expect(await leases()).to.have.length(5);
      expect(await (await open(second.apiUrl)).refused).to.include('TOO_MANY_REQUESTS');
      for (const stream of streams) stream.close();
      await until(async () => (await leases()).length === 0);
    });

    it('leave the leases of a process that dies to others once they have ended', async () => {
      const streams = [await open(second.apiUrl), await open(second.apiUrl), await open(api.url)];
      await until(async () => (await leases()).length === 3);
      await second.kill('api');
      streams.push(await open(api.url), await open(api.url));
      await until(async () => (await leases()).length === 5);
      expect(await (await open(api.url)).refused).to.include('TOO_MANY_REQUESTS');

      const renewed = new Set((await leases()).map(({ holder }) => holder));
      await api.database.db
        .updateTable('job_stream_lease')
        .set({ expires_at: new Date(Date.now() - 1_000) })
        .execute();
      // Those that live renew theirs at their next turn; the two of the dead process stay ended.
      await until(async () => (await leases()).filter(({ expires_at }) => expires_at > new Date()).length === 3);
      streams.push(await open(api.url), await open(api.url));
      await until(async () => (await leases()).filter(({ holder }) => !renewed.has(holder)).length === 2);
      expect(await (await open(api.url)).refused).to.include('TOO_MANY_REQUESTS');
      for (const stream of streams) stream.close();
      await until(async () => (await leases()).length === 0);
    });
  });
});
