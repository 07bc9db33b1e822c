import type { AiClient } from '../ai/client.ts';
import type { ServerConfig } from '../config/server.ts';
import type { Db } from '../db/connect.ts';
import type { GetPlan } from '../domain/billing/plan.ts';
import type { NewMail } from '../domain/mail.ts';
import type { Cursors } from '../domain/page.ts';
import type { CancelSubscription } from '../payments/cancel-subscription.ts';
import type { Storage } from '../storage/port.ts';
import type { DeleteOrganizationResult } from '../workflows/inputs.ts';
import type { Authentication } from './caller.ts';
import type { Readiness } from './http/health.ts';
import type { LargeBodies } from './limits/large-bodies.ts';
import type { Limiters } from './limits/limiters.ts';
import type { OrganizationLimits } from './limits/organization-limits.ts';
import type { RunDeps } from './procedure.ts';
import type { JobStreams } from './streams/job-streams.ts';

/** Everything that the HTTP edge and its procedures work with, made once by `main.ts` and passed in. */
export interface ApiDeps extends RunDeps {
  config: ServerConfig;
  db: Db;
  /** Connections that no tenant's locks can hold: for sessions, readiness and limits. */
  sessionsDb: Db;
  organizationLimits: OrganizationLimits;
  readiness: Readiness;
  authentication: Authentication;
  storage: Storage;
  ai: AiClient;
  getPlan: GetPlan;
  cursors: Cursors;
  limiters: Limiters;
  largeBodies: LargeBodies;
  /** Whether the embedding of a query by a model costs a credit; known for a minute, then asked again. */
  costsCredit(model?: string): Promise<boolean>;
  jobStreams: JobStreams;
  /** Cancels an organization's subscription at the payment provider. */
  cancelSubscription: CancelSubscription;
  /** Stores a mail, which a workflow then sends. */
  sendMail(mail: NewMail): Promise<void>;
  /**
   * Waits for the workflow that deletes an organization; undefined if it is still running after `timeoutMs`, or Temporal cannot be
   * reached.
   */
  awaitDeletion(organizationId: string, timeoutMs: number): Promise<DeleteOrganizationResult | undefined>;
}
