import type { Logger } from 'pino';
import type { AiClient } from '../../adapters/ai-service/client.ts';
import { openMailbox } from '../../adapters/mail/mailbox.ts';
import type { ServerMetrics } from '../../adapters/metrics/server-metrics.ts';
import type { Storage } from '../../adapters/storage/port.ts';
import { awaitResult } from '../../adapters/temporal/await-result.ts';
import type { createTemporalClient } from '../../adapters/temporal/connect.ts';
import { listWedged } from '../../adapters/temporal/list-wedged.ts';
import { deriveKeys } from '../../base/config/keys.ts';
import type { ServerConfig } from '../../base/config/server.ts';
import { workflowIds } from '../../contract/intents/definitions.ts';
import { createGetPlan } from '../../domain/billing/plan.ts';
import type { Cursors } from '../../domain/page.ts';
import { createCancelSubscription } from '../../domain/payments/cancel-subscription.ts';
import type { Payments } from '../../domain/payments/payments.ts';
import { createEmbeddingPrice } from '../../domain/search/embedding-price.ts';
import { createSecretBox } from '../../domain/secret-box.ts';
import { findKey } from '../auth/api-key.ts';
import { createFindSession } from '../auth/session.ts';
import type { ApiDeps } from '../deps.ts';
import { LargeBodies } from '../limits/large-bodies.ts';
import { createLimiters } from '../limits/limiters.ts';
import { OrganizationLimits } from '../limits/organization-limits.ts';
import type { MailQueue } from '../mail-queue.ts';
import type { JobStreams } from '../streams/job-streams.ts';
import type { Databases } from './open-databases.ts';

interface DepsParts {
  config: ServerConfig;
  log: Logger;
  metrics: ServerMetrics;
  databases: Databases;
  storage: Storage;
  ai: AiClient;
  temporal: ReturnType<typeof createTemporalClient>;
  cursors: Cursors;
  jobStreams: JobStreams;
  payments: Payments | undefined;
  mails: MailQueue;
}

/** The dependencies of the HTTP edge, from the parts that are open. */
export function createDeps({ config, log, metrics, databases, temporal, payments, mails, ai, ...parts }: DepsParts): ApiDeps {
  const { pools, db, sessionsDb } = databases;
  return {
    ...{ ...parts, config, log, db, sessionsDb, ai },
    skippedEvents: metrics.skippedEvents,
    organizationLimits: new OrganizationLimits({
      requestsPerSecond: config.limits.requestsPerSecond,
      // One organization may use half of the connections, so that the other half is always left for the others.
      atOnce: Math.max(1, Math.floor((pools.requests.options.max ?? 1) / 2)),
    }),
    readiness: { stopping: false },
    cancelSubscription: createCancelSubscription(db, payments),
    sendMail: mails.send,
    writeMails: mails.write,
    mailbox: openMailbox(config),
    authentication: { findCaller: createFindSession(sessionsDb, config), findKey: (hash) => findKey(sessionsDb, hash) },
    getPlan: createGetPlan(config),
    limiters: createLimiters({ ...config.limits, pool: config.limits.store === 'postgres' ? pools.sessions : undefined }),
    largeBodies: new LargeBodies(),
    costsCredit: createEmbeddingPrice(ai),
    listWedged: (work) => temporal.withDeadline(Date.now() + 3_000, () => listWedged(temporal, work)),
    secrets: createSecretBox(...deriveKeys(config, 'at-rest')),
    awaitDeletion: (organizationId, timeoutMs) => awaitResult(db, temporal, workflowIds.deleteOrganization(organizationId), timeoutMs),
  };
}
