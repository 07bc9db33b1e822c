import { expect } from 'chai';
import { sql } from 'kysely';
import type { TestApi } from '../support/api.ts';
import { until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';
import { billingOn } from './auth/support/service.ts';

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

describe('A search whose client leaves', () => {
  const env = { WORKER_ENABLED: 'false', ...billingOn, PLANS: '{"free":{"aiCredits":1000}}' };
  const { api, ai, tenant } = useApi({ ai: true, env, check: 'after each test' });
  let release = async () => {};
  before(async () => {
    ai.provider = 'remote';
    release = await slowQueries(api);
  });
  after(() => release());

  const search = (signal: AbortSignal) =>
    api.request('POST', `/api/v1/workspaces/${tenant.workspaceId}/documents/search`, {
      token: tenant.owner.token,
      body: { query: 'mirrors' },
      signal,
    });
  const usedCredits = async (): Promise<number> =>
    (await api.request('GET', `/api/v1/organizations/${tenant.organizationId}/usage`, { token: tenant.owner.token })).body.usage.aiCredits;

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
