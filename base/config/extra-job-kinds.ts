import { z } from 'zod';
import type { ExtraJobKind } from '../../contract/jobs.ts';

/** Every kind of job that a deployment has only if `EXTRA_JOB_KINDS` names it. */
const extraJobKinds = ['document.extractFields', 'document.process'] as const satisfies readonly ExtraJobKind[];

/** `EXTRA_JOB_KINDS`: the kinds that it names, none if it is absent. */
export function extraJobs() {
  return z
    .string()
    .transform((list) => list.split(',').map((name) => name.trim()))
    .pipe(z.array(z.enum(extraJobKinds, `must be names of ${extraJobKinds.join(', ')}, separated by commas`)))
    .default([]);
}
