import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { sql } from 'kysely';
import type { Environment } from '../../config/environment.ts';
import { findFreePorts } from '../../local/ports.ts';
import { billingOn } from '../auth/support/service.ts';
import type { Answer, TestApi } from '../support/api.ts';
import { type FakeAi, goodAnswer } from '../support/fake-ai.ts';
import { patientLocks } from '../support/locks.ts';
import { until } from '../support/processes.ts';
import { sampleValue, scrape } from '../support/scrape.ts';
import { callOver, transports } from '../support/transports.ts';
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

/** Makes the query of every search sleep, which no bound on locks ends, until the returned function is called. */
async function slowQueries({ database: { db } }: TestApi): Promise<() => Promise<void>> {
  await sql`alter table vector_block rename to quick_vector_block`.execute(db);
  await sql`
    create function slow_vector_block() returns setof quick_vector_block language plpgsql as $$
    begin
      perform pg_sleep(60);
      return query select * from quick_vector_block;
    end $$
  `.execute(db);
  await sql`create view vector_block as select * from slow_vector_block()`.execute(db);
  return async () => {
    await sql`drop view vector_block`.execute(db);
    await sql`drop function slow_vector_block`.execute(db);
    await sql`alter table quick_vector_block rename to vector_block`.execute(db);
  };
}

async function countQueries(api: TestApi): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) from pg_stat_activity
    where datname = current_database() and application_name = 'sheaf api' and state = 'active' and query like '%vector_block%'
  `.execute(api.database.db);
  return Number(rows[0]?.count);
}

/** Holds up every query that is `loud` at the AI service, until the returned function is called. */
function holdLoud(ai: FakeAi): () => void {
  const go = Promise.withResolvers<void>();
  ai.behave('embed', async (call) => {
    if (call.body.texts[0] === 'loud') await go.promise;
    return goodAnswer(call);
  });
  return go.resolve;
}

const billing = { ...billingOn, PLAN_FREE_AI_CREDITS: '1000' };
const common = { WORKER_ENABLED: 'false', SEARCH_SHARE: '1', SEARCH_LIMIT_PER_MINUTE: '1000', ...billing };

/** What the tests of a `describe` use while every search is held up at its query, each time anew. */
function useHeldSearches(env: Environment, hold: (api: TestApi) => Promise<() => Promise<void>>) {
  const used = useApi({ ai: true, env: { ...common, ...env }, tenant: 'of each test', check: 'after each test' });
  const { api, ai, tenant } = used;
  let release: () => Promise<void>;
  before(() => {
    ai.provider = 'remote';
  });
  beforeEach(async () => {
    ai.behave('embed');
    release = await hold(api);
  });
  afterEach(() => release());
  return {
    api,
    release: () => release(),
    search: (signal?: AbortSignal) =>
      api.request('POST', `/api/v1/workspaces/${tenant.workspaceId}/documents/search`, {
        token: tenant.owner.token,
        body: { query: 'mirrors' },
        ...(signal ? { signal } : {}),
      }),
    usedCredits: async (): Promise<number> =>
      (await api.request('GET', `/api/v1/organizations/${tenant.organizationId}/usage`, { token: tenant.owner.token })).body.usage
        .aiCredits,
  };
}

describe('A search whose client leaves', () => {
  // So long that no test sees its end: only the client can end a search here.
  const { api, search, usedCredits } = useHeldSearches({ SEARCH_TIMEOUT_MS: '600000' }, slowQueries);

  it('ends: its query is canceled, and its credit is given back', async () => {
    const leaving = new AbortController();
    const left = search(leaving.signal).catch(() => undefined);
    await until(async () => (await countQueries(api)) === 1);
    expect(await usedCredits()).to.equal(1);
    leaving.abort();
    await left;
    // Postgres itself would cancel it after the 30 seconds that a statement may take.
    await until(async () => (await countQueries(api)) === 0, 15_000);
    await until(async () => (await usedCredits()) === 0);
  });
});

describe('A search that takes too long', () => {
  const { api, search, usedCredits, release } = useHeldSearches({ SEARCH_TIMEOUT_MS: '2000', ...patientLocks }, holdQueries);

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
  // Those that have their turn are embedded for ten seconds at most: by then the others must have come, and waited.
  const env = { ...common, SEARCHES_PER_ORGANIZATION: '2', SEARCH_WAIT_MS: '1000' };
  const { api, ai, tenant } = useApi({ ai: true, env, check: 'after each test' });

  it('run two at a time; the rest wait, then get SERVICE_UNAVAILABLE, and another organization is served meanwhile', async () => {
    const other = await api.createTenant();
    const go = holdLoud(ai);
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
    go();
    const answers = await Promise.all(loud);
    expect(answers.filter(({ status }) => status === 200)).to.have.length(2);
    expect(ai.mostRunning).to.be.at.most(3);
  });
});

describe('Searches that wait for their turn', () => {
  // No search gives up its wait.
  const env = { ...common, SEARCHES_PER_ORGANIZATION: '2', SEARCH_WAIT_MS: '600000' };
  const { api, ai, tenant } = useApi({ ai: true, env, check: 'after each test' });

  it('get it in the order in which they came', async () => {
    const other = await api.createTenant();
    const search = ({ owner, workspaceId }: typeof other, query: string) =>
      api.request('POST', `/api/v1/workspaces/${workspaceId}/documents/search`, { token: owner.token, body: { query } });
    const asked: string[] = [];
    const gates = new Map<string, PromiseWithResolvers<void>>();
    ai.behave('embed', async (call) => {
      const [query] = call.body.texts;
      if (query !== 'quiet') {
        asked.push(query);
        const gate = Promise.withResolvers<void>();
        gates.set(query, gate);
        await gate.promise;
      }
      return goodAnswer(call);
    });
    const holders = ['holder 1', 'holder 2'];
    const answers = holders.map((query) => search(tenant, query));
    await until(() => asked.length === 2);
    const waiters = Array.from({ length: 6 }, (_, index) => `waiter ${index}`);
    for (const query of waiters) {
      answers.push(search(tenant, query));
      // Another organization's whole search takes every step that comes before the wait, and more: by then this one waits.
      for (let round = 0; round < 3; round++) expect((await search(other, 'quiet')).status).to.equal(200);
    }
    expect(asked).to.have.members(holders);
    // The other holder keeps its turn, so that there is one turn at a time.
    let leaving = 'holder 1';
    for (const [index, query] of waiters.entries()) {
      gates.get(leaving)?.resolve();
      await until(() => asked.length === 3 + index);
      expect(asked.at(-1)).to.equal(query);
      leaving = query;
    }
    for (const { resolve } of gates.values()) resolve();
    expect((await Promise.all(answers)).map(({ status }) => status)).to.deep.equal(Array(8).fill(200));
  });
});

describe('A client that does not wait as long as it was told', () => {
  let metricsPort = 0;
  const env = async () => {
    [metricsPort = 0] = await findFreePorts(1);
    return { ...common, SEARCHES_PER_ORGANIZATION: '1', SEARCH_WAIT_MS: '600000', METRICS_PORT: String(metricsPort) };
  };
  const { api, ai, tenant } = useApi({ ai: true, env, tenant: 'of each test', check: 'after each test' });
  let before = 0;

  const countBusy = async () => {
    const samples = await scrape(metricsPort);
    const searches = (status: string) => sampleValue(samples, 'sheaf_http_requests_total', { operation: 'documents.search', status });
    return { busy: searches('busy') ?? 0, failed: searches('503') };
  };

  for (const transport of transports)
    it(`is refused over ${transport} without a look at the database while its organization has no turn, and nobody else is`, async () => {
      const other = await api.createTenant();
      const go = holdLoud(ai);
      const search = (token: string, workspaceId: string, query: string) =>
        callOver(api, transport, 'documents.search', { workspaceId, query }, { token });
      const loud = (query = 'loud') => search(tenant.owner.token, tenant.workspaceId, query);
      // One runs, fifty wait.
      const refusals: Answer[] = [];
      const all = Array.from({ length: 55 }, async () => {
        const answer = await loud();
        if (answer.status === 503) refusals.push(answer);
        return answer;
      });
      await until(() => refusals.length === 4);
      const { db } = api.database;
      await db.transaction().execute(async (trx) => {
        await sql`lock table session, "user", workspace in access exclusive mode`.execute(trx);
        const startedAt = performance.now();
        const again = await loud();
        expect(performance.now() - startedAt).to.be.at.least(495);
        // The second of these waits as long as it was told.
        await delay(2_000);
        for (const { status, body, headers } of [again, await loud()])
          expect([status, body, headers.get('retry-after')]).to.deep.equal([503, refusals[0]?.body, '2']);
      });
      expect((await search(other.owner.token, other.workspaceId, 'quiet')).status).to.equal(200);
      expect((await search(tenant.owner.token, other.workspaceId, 'quiet')).status).to.equal(403);
      go();
      expect((await Promise.all(all)).filter(({ status }) => status === 200)).to.have.length(51);
      expect((await loud('served again')).status).to.equal(200);
      const { busy, failed } = await countBusy();
      expect([busy - before, failed]).to.deep.equal([6, undefined]);
      before = busy;
    });
});
