import type { IncomingHttpHeaders } from 'node:http';
import type { Logger } from 'pino';
import type { AiClient } from '../ai/client.ts';
import type { ServerConfig } from '../config/server.ts';
import type { Db } from '../db/connect.ts';
import type { GetPlan } from '../domain/billing/plan.ts';
import type { Cursors } from '../domain/cursor.ts';
import type { NewMail } from '../domain/mail/queue-mail.ts';
import type { CancelSubscription } from '../payments/cancel-subscription.ts';
import type { Storage } from '../storage/port.ts';
import type { DeleteOrganizationResult } from '../workflows/definitions.ts';
import type { Caller } from './caller.ts';
import type { EmbeddingPrice } from './embedding-price.ts';
import type { JobStreams } from './job-streams.ts';
import type { Limiters } from './limiters.ts';

/** What the API asks of authentication. */
export interface Authentication {
  /** The caller behind a cookie or bearer token; undefined without a session that is valid now. */
  findCaller(headers: IncomingHttpHeaders): Promise<Caller | undefined>;
}

/** Everything that procedures work with, made once by `main.ts` and passed in. */
export interface ApiDeps {
  config: ServerConfig;
  log: Logger;
  db: Db;
  authentication: Authentication;
  storage: Storage;
  ai: AiClient;
  getPlan: GetPlan;
  cursors: Cursors;
  limiters: Limiters;
  /** What the embedding of a query costs; the answer is kept for a minute. */
  embeddingPrice(): Promise<EmbeddingPrice>;
  jobStreams: JobStreams;
  /** Cancels an organization's subscription at the payment provider. */
  cancelSubscription: CancelSubscription;
  /** Writes a mail down, from where it is sent durably. */
  sendMail(mail: NewMail): Promise<void>;
  /**
   * Waits for the workflow that deletes an organization; undefined where it goes on after `timeoutMs`, or Temporal cannot be
   * reached.
   */
  awaitDeletion(organizationId: string, timeoutMs: number): Promise<DeleteOrganizationResult | undefined>;
}
