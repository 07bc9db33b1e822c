import { Client, Connection } from '@temporalio/client';
import { expect } from 'chai';
import { prepareNamespace, restoreSchedules } from '../../adapters/temporal/namespace.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { createTestNamespace } from '../support/temporal.ts';

describe('Schedules that an operator has deleted', () => {
  it('are made again, and a Temporal that says nothing meanwhile is given up soon', async () => {
    const temporal = await createTestNamespace();
    const [host = '', port] = temporal.address.split(':');
    const proxy = await startTcpProxy({ host, port: Number(port) });
    const connection = await Connection.connect({ address: `127.0.0.1:${proxy.port}` });
    const client = new Client({ connection, namespace: temporal.namespace });
    try {
      await prepareNamespace(temporal.client, temporal.namespace);
      const schedule = client.schedule.getHandle('housekeeping');
      await schedule.delete();
      await restoreSchedules(client);
      expect((await schedule.describe()).scheduleId).to.equal('housekeeping');

      proxy.silence();
      const before = performance.now();
      const failure = await restoreSchedules(client).catch((error: unknown) => error);
      expect(failure).to.be.an('error');
      expect(performance.now() - before).to.be.at.most(5_000);
    } finally {
      await connection.close();
      await proxy.stop();
      await temporal.close();
    }
  });
});
