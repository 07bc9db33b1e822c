import { expect } from 'chai';
import { until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

describe('Reconciling the vector indexes', () => {
  const { api } = useApi();

  it('runs once when its schedule is made, and tells why there are none', async () => {
    const { client } = api.temporal;
    const runs = async () => {
      const found = [];
      for await (const run of client.workflow.list({ query: "WorkflowType = 'reconcileIndexes'" })) found.push(run);
      return found;
    };
    await until(async () => (await runs()).some(({ status }) => status.name === 'COMPLETED'));
    const [run] = await runs();
    expect(await client.workflow.getHandle(run?.workflowId ?? '').result()).to.deep.equal({ exact: 'the database has no pgvector' });
    const { spec, info } = await client.schedule.getHandle('reconcile-indexes').describe();
    expect(spec.intervals?.[0]?.every).to.equal(3_600_000);
    // Apart from one of a full hour that has just begun.
    const atOnce = info.recentActions.filter(({ scheduledAt }) => scheduledAt.getTime() % 3_600_000 !== 0);
    expect(atOnce).to.have.lengthOf(1);
  });
});
