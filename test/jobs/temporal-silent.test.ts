import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { amountsOf, createJob, expectSoundLedger, summary } from '../support/jobs.ts';
import { nightly } from '../support/nightly.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { withTimes } from '../support/times.ts';
import { useApi } from '../support/use-api.ts';

/** Longer than the connections of the workers take to be found dead. */
const cutMs = 20_000;

describe('While Temporal says nothing', () => {
  const { api, ai, tenant } = useApi({ process: true, ai: true, services: ['api', 'worker'], env: withTimes({ jobRetryDelays: [200] }) });
  let proxy: TcpProxy;

  before(async () => {
    const [host = '', port] = api.temporal.address.split(':');
    proxy = await startTcpProxy({ host, port: Number(port) });
    for (const service of ['api', 'worker'] as const) {
      await api.stack.restart(service, { TEMPORAL_ADDRESS: `127.0.0.1:${proxy.port}` });
    }
    await createJob(api, tenant, summary);
  });
  after(() => proxy.stop());

  nightly('a connection that says nothing any more is ended long before a minute is over, so that it is given no task', async () => {
    const { hostname, port } = new URL(`http://${api.temporal.address}`);
    const socket = connect(Number(port), hostname).resume();
    try {
      // How HTTP/2 begins, and settings without one: from here on nobody responds to the server's pings.
      socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
      socket.write(Buffer.from('000000040000000000', 'hex'));
      await once(socket, 'close', { signal: AbortSignal.timeout(40_000) });
    } finally {
      socket.destroy();
    }
  });

  for (const forget of [false, true]) {
    nightly(`requests are served, and all is done once it ${forget ? 'takes new connections' : 'goes on'}`, async () => {
      const { token } = tenant.owner;
      proxy.silence();
      const jobs: { id: string }[] = [];
      const cutAt = performance.now();
      const open = proxy.open;
      while (performance.now() - cutAt < cutMs) {
        const startedAt = performance.now();
        jobs.push(await createJob(api, tenant, summary));
        // A call of Temporal without a deadline of its own takes ten seconds to fail, or does not end.
        expect(performance.now() - startedAt).to.be.lessThan(9_000);
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
      expect(proxy.open).to.be.lessThan(open + 20);
      proxy.resume({ forget });
      for (const { id } of jobs) {
        await api.jobIn(token, id, ['succeeded'], 90_000);
        expect(await amountsOf(api, id)).to.deep.equal([5]);
      }
      await expectSoundLedger(api);
      expect(ai.calls.length).to.be.at.least(jobs.length);
    });
  }
});
