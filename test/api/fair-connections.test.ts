import { expect } from 'chai';
import { sql } from 'kysely';
import { findFreePorts } from '../../local/ports.ts';
import type { Tenant } from '../support/api.ts';
import { patientLocks, untilWaiting } from '../support/locks.ts';
import { until } from '../support/processes.ts';
import { sampleValue, scrape } from '../support/scrape.ts';
import { useApi } from '../support/use-api.ts';

const loudRequests = 30;

describe('A request beside many of another organization', () => {
  let metricsPort = 0;
  const { api, tenant: loud } = useApi({
    env: async () => {
      [metricsPort = 0] = await findFreePorts(1);
      return { ...patientLocks, METRICS_PORT: String(metricsPort), DATABASE_POOL_SIZE: '4', WORKER_ENABLED: 'false' };
    },
  });

  /** How many requests hold a connection, and wait for the lock, or wait for a connection. */
  async function arrived(): Promise<number> {
    const holding = (await untilWaiting(api.database.db, 1)).length;
    return holding + (sampleValue(await scrape(metricsPort), 'sheaf_database_pool_waiting', { pool: 'requests' }) ?? 0);
  }

  it('gets one of the next connections, however many of those wait already', async () => {
    const quiet = await api.createTenant();
    const order: string[] = [];
    const list = async (who: string, of: Tenant) => {
      let status = 503;
      // On a busy machine the service may refuse one for the moment, which then comes again.
      while (status === 503)
        ({ status } = await api.request('GET', `/api/v1/organizations/${of.organizationId}/usage`, { token: of.owner.token }));
      order.push(`${who} ${status}`);
    };
    const requests: Promise<void>[] = [];
    await api.database.db.transaction().execute(async (trx) => {
      await sql`lock table workspace in access exclusive mode`.execute(trx);
      requests.push(...Array.from({ length: loudRequests }, () => list('loud', loud)));
      await until(async () => (await arrived()) === loudRequests);
      requests.push(list('quiet', quiet));
      await until(async () => (await arrived()) === loudRequests + 1);
    });
    await Promise.all(requests);
    expect(order).to.have.members([...Array(loudRequests).fill('loud 200'), 'quiet 200']);
    expect(order.indexOf('quiet 200'), order.join(' ')).to.be.lessThan(loudRequests / 2);
  });
});
