import type { AiClient } from '../adapters/ai-service/client.ts';
import type { Mailbox } from '../adapters/mail/mailbox.ts';
import type { Storage } from '../adapters/storage/port.ts';
import type { ServerConfig } from '../base/config/server.ts';
import type { DeleteOrganizationResult } from '../contract/intents/inputs.ts';
import type { Db, Transaction } from '../db/connect.ts';
import type { GetPlan } from '../domain/billing/plan.ts';
import type { NewMail } from '../domain/mail.ts';
import type { Cursors } from '../domain/page.ts';
import type { CancelSubscription } from '../domain/payments/cancel-subscription.ts';
import type { Unfinished } from '../domain/platform/list-unfinished.ts';
import type { SecretBox } from '../domain/secret-box.ts';
import type { Authentication } from './caller.ts';
import type { Readiness } from './http/health.ts';
import type { LargeBodies } from './limits/large-bodies.ts';
import type { Limiters } from './limits/limiters.ts';
import type { OrganizationLimits } from './limits/organization-limits.ts';
import type { RunDeps } from './procedure.ts';
import type { JobStreams } from './streams/job-streams.ts';

/** The dependencies of the HTTP edge and its procedures, created once by `main.ts`. */
export interface ApiDeps extends RunDeps {
  config: ServerConfig;
  db: Db;
  /** A pool that no tenant's locks can exhaust, for sessions, readiness and limits. */
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
  /** Whether embedding a query by a model costs a credit; cached for a minute. */
  costsCredit(model?: string): Promise<boolean>;
  jobStreams: JobStreams;
  /** Cancels an organization's subscription at the payment provider. */
  cancelSubscription: CancelSubscription;
  /** Stores a mail, which a workflow sends. */
  sendMail(mail: NewMail): Promise<void>;
  /** Stores mails in the transaction that causes them. */
  writeMails(trx: Transaction, mails: NewMail[]): Promise<void>;
  /** The store of mails if this deployment keeps mails instead of sending them; undefined if it sends them. */
  mailbox: Mailbox | undefined;
  /** Of unfinished work, that whose workflow can make no progress; throws if Temporal cannot be reached. */
  listWedged(work: Unfinished[]): Promise<(Unfinished & { reason: string })[]>;
  /** Seals and opens the secrets of webhook endpoints. */
  secrets: SecretBox;
  /**
   * Waits for the workflow that deletes an organization; undefined if it is still running after `timeoutMs`, or Temporal cannot be
   * reached.
   */
  awaitDeletion(organizationId: string, timeoutMs: number): Promise<DeleteOrganizationResult | undefined>;
}
