import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { sql } from 'kysely';
import { findFreePorts } from '../../local/ports.ts';
import type { Tenant } from '../support/api.ts';
import { patientLocks, untilWaiting } from '../support/locks.ts';
import { until } from '../support/processes.ts';
import { sampleValue, scrape } from '../support/scrape.ts';
import { useApi } from '../support/use-api.ts';

const loudRequests = 90;

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
    const refused: unknown[] = [];
    const list = async (who: string, of: Tenant) => {
      const ask = () => api.request('GET', `/api/v1/organizations/${of.organizationId}/usage`, { token: of.owner.token });
      let response = await ask();
      // On a busy machine the service may refuse one for the moment, which then comes again as a client does.
      while (response.status === 503 || response.status === 429) {
        refused.push(response.body);
        await delay(500);
        response = await ask();
      }
      order.push(`${who} ${response.status}`);
    };
    const requests: Promise<void>[] = [];
    // The service itself may wait for a connection, too, and be counted instead of a request that is still to come.
    const untilArrived = (count: number) => {
      let [last, same] = [0, 0];
      const haveCome = async () => {
        const now = await arrived();
        same = now === last ? same + 1 : 0;
        last = now;
        return now >= count && same >= 10;
      };
      return until(haveCome).catch((error) => {
        throw new Error(`not ${count} requests wait; answered: ${order}; refused: ${JSON.stringify(refused)}`, { cause: error });
      });
    };
    await api.database.db.transaction().execute(async (trx) => {
      await sql`lock table workspace in access exclusive mode`.execute(trx);
      requests.push(...Array.from({ length: loudRequests }, () => list('loud', loud)));
      await untilArrived(loudRequests);
      requests.push(list('quiet', quiet));
      await untilArrived(loudRequests + 1);
    });
    await Promise.all(requests);
    expect(order).to.have.members([...Array(loudRequests).fill('loud 200'), 'quiet 200']);
    expect(order.indexOf('quiet 200'), `${order}; refused: ${JSON.stringify(refused)}`).to.be.lessThan(loudRequests / 2);
  });
});
