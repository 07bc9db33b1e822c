import { processStages } from '../../contract/jobs.ts';
import type { JobRow } from './job.ts';

type Stage = (typeof processStages)[number];

/** The stages that a `document.process` has to do yet, in their order. */
export function stagesLeft({ stages }: Pick<JobRow, 'stages'>): Stage[] {
  return processStages.filter((stage) => !(stage in (stages ?? {})));
}

/** How much of its stages a job has done, in percent. */
export function progressOf({ status, stages }: Pick<JobRow, 'status' | 'stages'>): number {
  const done = status === 'succeeded' ? processStages.length : processStages.length - stagesLeft({ stages }).length;
  return Math.round((100 * done) / processStages.length);
}
