import { setTimeout as delay } from 'node:timers/promises';
import { type Measure, toFigure } from '../support/figure.ts';
import { watchJobs } from '../support/job-watch.ts';
import { perSecond } from '../support/rounds.ts';

/** By then an idle process has returned its memory. */
const restMs = 20_000;

/** The memory of the API with its worker at rest: after a warm-up, and after 10,000 jobs. */
export const memory: Measure = async (service, { quick }) => {
  const jobsRun = quick ? 200 : 10_000;
  const watch = await watchJobs(service);
  const body = { organizationId: service.organizationId, kind: 'text.embed', texts: ['The petals of the dome open at dusk.'] };
  const job = async () => watch.finished((await service.call('POST', '/api/v1/jobs', body)).id);
  await perSecond(quick ? 200 : 2_000, 20, job);
  await delay(quick ? restMs / 2 : restMs);
  const idle = service.memoryMb();
  await perSecond(jobsRun, 20, job);
  await delay(quick ? restMs / 2 : restMs);
  const after = service.memoryMb();
  watch.close();
  return [
    toFigure('memory of API with worker', { value: idle, unit: 'MB' }, { atMost: 400 }),
    toFigure(
      `the same after ${jobsRun.toLocaleString('en')} jobs`,
      { value: after, baseline: idle, unit: 'MB' },
      { ratio: { atMost: 1.1 } },
    ),
  ];
};
