import { expect } from 'chai';
import { eventsOf } from '../support/histories.ts';
import { createJob, summary } from '../support/jobs.ts';
import { until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

describe('The start of a job', () => {
  for (const services of [['api'], ['api', 'worker']] as const) {
    const inside = services.length === 1;

    describe(inside ? 'with the worker inside the API' : 'with the worker in a process of its own', () => {
      const { api, ai, tenant } = useApi({ ai: true, services: [...services], check: 'at the end' });

      it(inside ? 'brings the first task with its response' : 'puts the first task into the queue', async () => {
        const { id } = await createJob(api, tenant, summary);
        await api.jobIn(tenant.owner.token, id, ['succeeded']);
        const handle = api.temporal.client.workflow.getHandle(`job-${id}`);
        await until(async () => (await eventsOf(handle)).includes('workflowExecutionCompleted'));
        const { events } = await handle.fetchHistory();
        expect(events?.[0]?.workflowExecutionStartedEventAttributes?.eagerExecutionAccepted).to.equal(inside);
        expect(ai.callsOf(id)).to.equal(1);
      });
    });
  }
});
