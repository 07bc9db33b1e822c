import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { startBaseline } from '../support/baseline.ts';
import { type Measure, toFigure } from '../support/figure.ts';
import { watchJobs } from '../support/job-watch.ts';
import { alternate, medianMs, perSecond } from '../support/rounds.ts';

const jobsPerRound = 200;
const concurrency = 20;

/** `text.embed` from POST to succeeded, compared with a bare workflow with one activity on the same server. */
export const jobs: Measure = async (service) => {
  const worker = await startBaseline(service, 'bare-temporal.ts', [service.stack.temporalAddress, '2'], 'bare worker running');
  const connection = await Connection.connect({ address: service.stack.temporalAddress });
  const { workflow } = new Client({ connection });
  const watch = await watchJobs(service);
  const body = { organizationId: service.organizationId, kind: 'text.embed', texts: ['The petals of the dome open at dusk.'] };
  const job = async () => watch.finished((await service.call('POST', '/api/v1/jobs', body)).id);
  const bare = () => workflow.execute('bare', { taskQueue: 'bare', workflowId: `bare-${randomUUID()}` });
  try {
    const throughput = await alternate(
      3,
      () => perSecond(jobsPerRound, concurrency, job),
      () => perSecond(jobsPerRound, concurrency, bare),
    );
    const latency = await alternate(
      3,
      () => medianMs(20, job),
      () => medianMs(20, bare),
    );
    return [
      toFigure('text.embed, 20 at a time', { ...throughput, unit: 'jobs/s' }, { ratio: { atLeast: 0.8 } }),
      toFigure('text.embed, one at a time', { ...latency, unit: 'ms' }, { ratio: { atMost: 1.3 } }),
    ];
  } finally {
    watch.close();
    await connection.close();
    await worker.stop();
  }
};
