import type { z } from 'zod';
import { maxMilliseconds, optionalInteger } from './environment.ts';
import { localModelVariables, usesE5 } from './local-models.ts';

/** The variables that say how long an attempt of a job may take. */
export const jobTimeVariables = {
  JOB_TIMEOUT_MS: optionalInteger({ min: 100, max: maxMilliseconds }),
  ...localModelVariables,
};

const usualMs = 120_000;
/** The sentence model needs a minute for the longest text on a busy machine, several share it, and an attempt that times out stores nothing. */
const e5Ms = 600_000;

/** How long an attempt may take, in milliseconds. */
export function jobTimeoutMsOf(e: z.output<z.ZodObject<typeof jobTimeVariables>>): number {
  return e.JOB_TIMEOUT_MS ?? (usesE5(e) ? e5Ms : usualMs);
}
