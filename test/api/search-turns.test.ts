import { expect } from 'chai';
import { sql } from 'kysely';
import { billingOn } from '../auth/support/service.ts';
import type { Answer, TestApi } from '../support/api.ts';
import { goodAnswer } from '../support/fake-ai.ts';
import { untilWaiting } from '../support/locks.ts';
import { until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

/** Holds up every search at its query, until the returned function is called. */
async function holdQueries(api: TestApi): Promise<() => Promise<void>> {
  const held = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const holding = api.database.db.transaction().execute(async (trx) => {
    await sql`lock table vector_block in access exclusive mode`.execute(trx);
    held.resolve();
    await release.promise;
  });
  await held.promise;
  return () => {
    release.resolve();
    return holding;
  };
}

async function countQueries(api: TestApi): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) from pg_stat_activity
    where datname = current_database() and application_name = 'sheaf api' and state = 'active' and query like '%vector_block%'
  `.execute(api.database.db);
  return Number(rows[0]?.count);
}

const billing = { ...billingOn, PLAN_FREE_AI_CREDITS: '1000' };
const common = { WORKER_ENABLED: 'false', SEARCH_LIMIT_PER_MINUTE: '1000', ...billing };

describe('A search that nobody waits for', () => {
  const { api, ai, tenant } = useApi({
    ai: true,
    env: { ...common, SEARCH_TIMEOUT_MS: '1500' },
    tenant: 'of each test',
    check: 'after each test',
  });
  let release: () => Promise<void>;
  before(() => {
    ai.provider = 'remote';
  });
  beforeEach(async () => {
    ai.behave('embed');
    release = await holdQueries(api);
  });
  afterEach(() => release());

  const search = (signal?: AbortSignal) =>
    api.request('POST', `/api/v1/workspaces/${tenant.workspaceId}/documents/search`, {
      token: tenant.owner.token,
      body: { query: 'mirrors' },
      ...(signal ? { signal } : {}),
    });
  const usedCredits = async (): Promise<number> =>
    (await api.request('GET', `/api/v1/organizations/${tenant.organizationId}/usage`, { token: tenant.owner.token })).body.usage.aiCredits;

  it('ends when its client leaves: its query is canceled, and its credit is given back', async () => {
    const leaving = new AbortController();
    const left = search(leaving.signal).catch(() => undefined);
    await untilWaiting(api.database.db, 1);
    expect(await usedCredits()).to.equal(1);
    leaving.abort();
    await left;
    await until(async () => (await countQueries(api)) === 0, 1_000);
    await until(async () => (await usedCredits()) === 0);
  });

  it('ends after its time with SERVICE_UNAVAILABLE, and its credit is given back', async () => {
    const late = await search();
    expect(late.body).to.include({ defined: true, code: 'SERVICE_UNAVAILABLE', message: 'The search took too long.' });
    expect(late.headers.get('retry-after')).to.equal('2');
    expect([await countQueries(api), await usedCredits()]).to.deep.equal([0, 0]);
  });

  it('leaves connections that work', async () => {
    for (let round = 0; round < 3; round++) await Promise.all(Array.from({ length: 4 }, () => search()));
    await release();
    for (let i = 0; i < 12; i++) expect((await search()).status).to.equal(200);
  });
});

describe('Hundreds of searches of one organization', () => {
  const env = { ...common, SEARCHES_PER_ORGANIZATION: '2', SEARCH_WAIT_MS: '3000' };
  const { api, ai, tenant } = useApi({ ai: true, env, check: 'after each test' });

  it('run two at a time; the rest wait, then get SERVICE_UNAVAILABLE, and another organization is served meanwhile', async () => {
    const other = await api.createTenant();
    const go = Promise.withResolvers<void>();
    ai.behave('embed', async (call) => {
      if (call.body.texts[0] === 'loud') await go.promise;
      return goodAnswer(call);
    });
    const search = ({ owner, workspaceId }: typeof other, query: string) =>
      api.request('POST', `/api/v1/workspaces/${workspaceId}/documents/search`, { token: owner.token, body: { query } });
    const refused: Answer[] = [];
    const loud = Array.from({ length: 200 }, async () => {
      const answer = await search(tenant, 'loud');
      if (answer.status !== 200) refused.push(answer);
      return answer;
    });
    await until(() => ai.running === 2);
    for (let i = 0; i < 5; i++) expect((await search(other, 'quiet')).status).to.equal(200);
    await until(() => refused.length === 198);
    for (const { body, headers } of refused) {
      expect(body).to.include({ defined: true, code: 'SERVICE_UNAVAILABLE' });
      expect(headers.get('retry-after')).to.equal('2');
    }
    go.resolve();
    const answers = await Promise.all(loud);
    expect(answers.filter(({ status }) => status === 200)).to.have.length(2);
    expect(ai.mostRunning).to.be.at.most(3);
  });

  it('get their turn in the order in which they came, if they need not wait for long', async () => {
    ai.behave('embed');
    const search = () =>
      api.request('POST', `/api/v1/workspaces/${tenant.workspaceId}/documents/search`, { token: tenant.owner.token, body: { query: 'q' } });
    const answers = await Promise.all(Array.from({ length: 20 }, search));
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(20).fill(200));
  });
});
