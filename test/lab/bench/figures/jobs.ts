import { startBareTemporal } from '../support/bare-temporal.ts';
import { type Measure, toFigure } from '../support/figure.ts';
import { watchJobs } from '../support/job-watch.ts';
import { alternate, medianMs, perSecond } from '../support/rounds.ts';

const concurrency = 20;

/** `text.embed` from POST to succeeded, compared with a bare workflow with one activity on the same server. */
export const jobs: Measure = async (service, { rounds, quick }) => {
  const bare = await startBareTemporal(service);
  const watch = await watchJobs(service);
  const body = { organizationId: service.organizationId, kind: 'text.embed', texts: ['The petals of the dome open at dusk.'] };
  const job = async () => watch.finished((await service.call('POST', '/api/v1/jobs', body)).id);
  const perRound = quick ? 100 : 200;
  try {
    const throughput = await alternate(
      rounds(5),
      () => perSecond(perRound, concurrency, job),
      () => perSecond(perRound, concurrency, bare.run),
    );
    const latency = await alternate(
      rounds(3),
      () => medianMs(20, job),
      () => medianMs(20, bare.run),
    );
    return [
      toFigure('text.embed, 20 at a time', { ...throughput, unit: 'jobs/s' }, { ratio: { atLeast: 0.95 } }),
      toFigure('text.embed, one at a time', { ...latency, unit: 'ms' }, { ratio: { atMost: 1.3 } }),
    ];
  } finally {
    watch.close();
    await bare.stop();
  }
};
