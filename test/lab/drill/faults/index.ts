import type { Fault } from '../fault.ts';
import { auditKilled } from './audit.ts';
import { costsKilled } from './costs.ts';
import { aiErrors, aiSlow, aiTooLarge, aiUnusable, storeRefuses } from './dependencies.ts';
import { levers } from './levers.ts';
import { aiSilent, bucketSilent, postgresSilent, temporalSilent } from './network.ts';
import { aiKilled, apiKilled, postgresCrashed, temporalAway, workerFrozen, workerKilled } from './processes.ts';
import { providerOutage } from './provider-outage.ts';
import { clockSkew, twoVersions } from './replicas.ts';
import { diskFull, temporalLost, workerOutOfMemory } from './resources.ts';
import { retentionKilled } from './retention.ts';
import { versionsKilled } from './versions.ts';
import { webhooks } from './webhooks.ts';

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
  bucketSilent,
  storeRefuses,
  diskFull,
  workerOutOfMemory,
  temporalLost,
  clockSkew,
  twoVersions,
  webhooks,
  providerOutage,
  costsKilled,
  versionsKilled,
  auditKilled,
  retentionKilled,
  levers,
];
