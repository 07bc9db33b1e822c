import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { sql } from 'kysely';
import type { Tenant } from '../support/api.ts';
import { patientLocks, untilWaiting } from '../support/locks.ts';
import { useApi } from '../support/use-api.ts';

const loudRequests = 90;

describe('A request beside many of another organization', () => {
  const { api, tenant: loud } = useApi({ env: { ...patientLocks, DATABASE_POOL_SIZE: '4', WORKER_ENABLED: 'false' } });

  it('gets one of the next connections, however many of those wait already', async () => {
    const quiet = await api.createTenant();
    const order: string[] = [];
    const list = async (who: string, of: Tenant) => {
      const path = `/api/v1/organizations/${of.organizationId}/usage`;
      const { status } = await api.request('GET', path, { token: of.owner.token });
      order.push(`${who} ${status}`);
    };
    const requests: Promise<void>[] = [];
    await api.database.db.transaction().execute(async (trx) => {
      await sql`lock table workspace in access exclusive mode`.execute(trx);
      requests.push(...Array.from({ length: loudRequests }, () => list('loud', loud)));
      await untilWaiting(api.database.db, 1);
      // The others have come meanwhile.
      await delay(1_000);
      requests.push(list('quiet', quiet));
      await untilWaiting(api.database.db, 2);
    });
    await Promise.all(requests);
    expect(order).to.have.members([...Array(loudRequests).fill('loud 200'), 'quiet 200']);
    expect(order.indexOf('quiet 200'), `${order}`).to.be.lessThan(loudRequests / 2);
  });
});
