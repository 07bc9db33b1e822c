import { z } from 'zod';
import { extraJobKinds } from '../../contract/jobs.ts';

/** `EXTRA_JOB_KINDS`: the kinds that it names, none if it is absent. */
export function extraJobs() {
  return z
    .string()
    .transform((list) => list.split(',').map((name) => name.trim()))
    .pipe(z.array(z.enum(extraJobKinds, `must be names of ${extraJobKinds.join(', ')}, separated by commas`)))
    .default([]);
}
