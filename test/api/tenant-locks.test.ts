import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import type { Answer, Tenant } from '../support/api.ts';
import { expectCleanLog } from '../support/jobs.ts';
import { nightly } from '../support/nightly.ts';
import { until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

const writes = 30;

describe('While one tenant waits for its own locks', () => {
  const { api } = useApi({ env: { WORKER_ENABLED: 'false' } });
  let blocked: Tenant;
  let other: Tenant;

  before(async () => {
    [blocked, other] = [await api.createTenant(), await api.createTenant()];
  });

  /** Does `work` while another connection holds the organization's lock. */
  async function whileLocked<T>(organizationId: string, work: (holder: Transaction) => Promise<T>): Promise<T> {
    return await api.database.db.transaction().execute(async (trx) => {
      await sql`select from organization where id = ${organizationId} for update`.execute(trx);
      return await work(trx);
    });
  }

  /** How many connections wait for a lock. Asked on the holder's, since a transaction that is idle for long is ended. */
  async function countWaiting(holder: Transaction): Promise<number> {
    // Without it the server repeats to a transaction what it told first.
    await sql`select pg_stat_clear_snapshot()`.execute(holder);
    const { rows } = await sql<{ count: number }>`
      select count(*) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'
    `.execute(holder);
    return rows[0]?.count ?? 0;
  }

  function sendWrites(signal?: AbortSignal): Promise<Answer>[] {
    const { organizationId, owner } = blocked;
    return Array.from({ length: writes }, (_, n) => {
      const body = { organizationId, name: 'Another', slug: `another-${n}` };
      return api.request('POST', '/api/v1/workspaces', { token: owner.token, body, ...(signal && { signal }) });
    });
  }

  nightly('its requests end with Retry-After, few of them hold a connection, and others are served', async () => {
    await whileLocked(blocked.organizationId, async (holder) => {
      const sent = sendWrites();
      let ended = 0;
      for (const each of sent) void each.then(() => ended++);
      let mostWaiting = 0;
      let served = 0;
      while (ended < writes) {
        mostWaiting = Math.max(mostWaiting, await countWaiting(holder));
        const { token } = other.owner;
        const before = ended;
        const answers = await Promise.all([
          api.request('GET', '/api/v1/me', { token }),
          api.request('GET', `/api/v1/organizations/${other.organizationId}/usage`, { token }),
          api.request('GET', '/readyz'),
        ]);
        expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
        if (ended === before) served++;
        await delay(50);
      }
      // Half of the connections for requests.
      expect(mostWaiting).to.be.within(1, 8);
      // They were served while the others waited, not after them.
      expect(served).to.be.greaterThan(10);
      for (const { status, body, headers } of await Promise.all(sent)) {
        expect([status, body.code, body.defined]).to.be.deep.oneOf([
          [503, 'SERVICE_UNAVAILABLE', true],
          [429, 'TOO_MANY_REQUESTS', true],
        ]);
        expect(Number(headers.get('retry-after'))).to.be.at.least(1);
      }
    });
  });

  it('clients that leave while they wait are no errors of the service', async () => {
    await whileLocked(blocked.organizationId, async (holder) => {
      const left = new AbortController();
      const sent = sendWrites(left.signal);
      await until(async () => (await countWaiting(holder)) > 0);
      const served = await api.request('GET', '/api/v1/me', { token: other.owner.token });
      expect(served.status).to.equal(200);
      left.abort();
      for (const each of await Promise.allSettled(sent)) expect(each.status).to.equal('rejected');
    });
    const { organizationId, owner } = blocked;
    const body = { organizationId, name: 'Next', slug: 'next' };
    expect((await api.request('POST', '/api/v1/workspaces', { token: owner.token, body })).status).to.equal(200);
    expectCleanLog(api, 'api');
  });

  it('a query that is only slow goes on', async () => {
    const { db } = api.database;
    await sql`alter table workspace rename to quick_workspace`.execute(db);
    await sql`create view workspace as select quick_workspace.* from quick_workspace, (select pg_sleep(2) offset 0) as slow`.execute(db);
    const startedAt = performance.now();
    const { organizationId, owner } = other;
    const { status } = await api.request('GET', `/api/v1/workspaces?organizationId=${organizationId}`, { token: owner.token });
    expect([status, performance.now() - startedAt > 2_000]).to.deep.equal([200, true]);
  });
});
