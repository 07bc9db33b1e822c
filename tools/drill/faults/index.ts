import type { Fault } from '../fault.ts';
import { aiErrors, aiSlow, aiTooLarge, aiUnusable, storeRefuses } from './dependencies.ts';
import { aiSilent, postgresSilent, temporalSilent } from './network.ts';
import { aiKilled, apiKilled, postgresCrashed, temporalAway, workerFrozen, workerKilled } from './processes.ts';
import { retention } from './retention.ts';

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
  postgresSilent,
  temporalSilent,
  aiSilent,
  storeRefuses,
  retention,
];
