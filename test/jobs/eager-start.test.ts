import { expect } from 'chai';
import { eventsOf } from '../support/histories.ts';
import { createJob, summary } from '../support/jobs.ts';
import { until } from '../support/processes.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { useApi } from '../support/use-api.ts';

describe('The start of a job', () => {
  const { api, ai, tenant } = useApi({ process: true, ai: true, check: 'at the end' });

  it('brings the first task with its response, where the worker is inside the API', async () => {
    const { id } = await createJob(api, tenant, summary);
    await api.jobIn(tenant.owner.token, id, ['succeeded']);
    const handle = api.temporal.client.workflow.getHandle(`job-${id}`);
    await until(async () => (await eventsOf(handle)).includes('workflowExecutionCompleted'));
    const { events } = await handle.fetchHistory();
    expect(events?.[0]?.workflowExecutionStartedEventAttributes?.eagerExecutionAccepted).to.equal(true);
    expect(ai.callsOf(id)).to.equal(1);
  });

  describe('whose response is late', () => {
    let proxy: TcpProxy;

    before(async () => {
      const [host = '', port] = api.temporal.address.split(':');
      proxy = await startTcpProxy({ host, port: Number(port) });
      await api.stack.restart('api', { TEMPORAL_ADDRESS: `127.0.0.1:${proxy.port}` });
    });
    after(() => proxy.stop());

    it('still brings the first task: without it the job waits until Temporal gives that up, ten seconds later', async () => {
      const { token } = tenant.owner;
      await api.jobIn(token, (await createJob(api, tenant, summary)).id, ['succeeded']);
      proxy.holdReplies();
      const { id } = await createJob(api, tenant, summary);
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      proxy.resume();
      await api.jobIn(token, id, ['succeeded']);
      expect(await eventsOf(api.temporal.client.workflow.getHandle(`job-${id}`))).not.to.include('workflowTaskTimedOut');
    });
  });
});
