import type { Fault } from '../fault.ts';
import { aiErrors, aiSlow, aiTooLarge, aiUnusable } from './ai-answers.ts';
import { apiKilled } from './api-killed.ts';
import { aiKilled, postgresCrashed, temporalAway, workerFrozen, workerKilled } from './processes.ts';
import { retention } from './retention.ts';
import { storeRefuses } from './store-refuses.ts';

/** Every fault, in the order of a drill. */
export const faults: Fault[] = [
  workerKilled,
  workerFrozen,
  apiKilled,
  aiKilled,
  postgresCrashed,
  temporalAway,
  aiSlow,
  aiErrors,
  aiTooLarge,
  aiUnusable,
  storeRefuses,
  retention,
];
