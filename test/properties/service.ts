import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import pino from 'pino';
import type { ActivityDeps } from '../../activities/deps.ts';
import { Embedder } from '../../activities/embedder.ts';
import { type Activities, createActivities } from '../../activities/index.ts';
import type { Caller } from '../../api/caller.ts';
import type { ApiDeps } from '../../api/deps.ts';
import { isProcedure, type Procedure, type ProcedureTree, run } from '../../api/procedure.ts';
import { createProcedures } from '../../api/procedures/index.ts';
import { Semaphore } from '../../base/concurrency/semaphore.ts';
import type { Environment } from '../../base/config/environment.ts';
import { loadServerConfig } from '../../base/config/server.ts';
import { createDb, createPool } from '../../db/connect.ts';
import { createGetPlan } from '../../domain/billing/plan.ts';
import { syncPlanLimits } from '../../domain/billing/sync-plan-limits.ts';
import { createPayments } from '../../domain/payments/payments.ts';
import { takeEvent } from '../../domain/payments/take-event.ts';
import { billingOn } from '../api/auth/support/service.ts';
import { type StripeServer, startStripeServer } from '../lab/stripe-stand-in/stripe-server.ts';
import { type ClockedDatabase, createClockedDatabase } from '../support/clocked-database.ts';
import { AiStandIn } from './ai-stand-in.ts';
import { ConnectionBreaker } from './connection-breaker.ts';
import { attemptTimeoutMs, graceDays, planLimits } from './money-state.ts';

export interface ServiceOptions {
  billing: boolean;
  /** That of every session of the database. */
  timeZone: string;
}

/**
 * The service in this process: its procedures and activities over a database of its own, whose clock stands still until it is moved. What
 * stands in for others: the two transports and sign-in (a caller is given), Temporal (a test calls the activities), the AI service, the
 * store of objects, and Stripe, which is asked over HTTP.
 */
export class Service {
  readonly options: ServiceOptions;
  readonly database: ClockedDatabase;
  readonly stripe: StripeServer;
  readonly breaker = new ConnectionBreaker();
  readonly ai = new AiStandIn();
  readonly activities: Activities;
  readonly takeEvent: (event: unknown) => Promise<void>;
  /** How large every stored object is. */
  objectBytes = 0;
  readonly #procedures: ProcedureTree;
  readonly #close: () => Promise<void>;

  private constructor(options: ServiceOptions, database: ClockedDatabase, stripe: StripeServer) {
    this.options = options;
    this.database = database;
    this.stripe = stripe;
    const config = loadServerConfig({ ...environmentOf(options), DATABASE_URL: database.url, STRIPE_API_BASE: stripe.url });
    const pool = createPool({ url: database.url, poolSize: 4 });
    this.breaker.watch(pool);
    const db = createDb(pool);
    const payments = createPayments({ config, db, log });
    const storage = {
      signUpload: async () => ({ url: 'http://storage.example', headers: {}, expiresAt: new Date(0) }),
      stat: async () => ({ sizeBytes: this.objectBytes }),
    };
    const parts = { config, db, log, storage, payments, ai: this.ai.client, getPlan: createGetPlan(config) };
    this.activities = createActivities({
      ...parts,
      embedder: new Embedder(this.ai.client, 10),
      attempts: new Semaphore(1_000),
      jobs: { timeoutMs: attemptTimeoutMs, retryDelaysMs: [0] },
    } as unknown as ActivityDeps);
    this.#procedures = createProcedures({
      ...parts,
      limiters: { searches: { consume: async () => {} } },
      costsCredit: async () => true,
    } as unknown as ApiDeps);
    this.takeEvent = async (event) => {
      if (payments) await takeEvent(payments, event as never);
    };
    this.#close = async () => {
      await db.destroy();
      await database.drop();
      await stripe.stop();
    };
  }

  static async start(options: ServiceOptions): Promise<Service> {
    const [database, stripe] = await Promise.all([createClockedDatabase({ poolSize: 2, timeZone: options.timeZone }), startStripeServer()]);
    await syncPlanLimits(database.db, loadServerConfig(environmentOf(options)));
    return new Service(options, database, stripe);
  }

  /** Calls an operation, as both transports do after they have found the caller and parsed the input. Its response is read at once. */
  async call<T = any>(operation: string, caller: Caller, input: unknown, idempotencyKey?: string): Promise<T> {
    const ended: (() => void)[] = [];
    const onEnd = (callback: () => void) => void ended.push(callback);
    const request = {
      ...{ requestId: randomUUID(), clientAddress: '192.0.2.1', userAgent: undefined, idempotencyKey, lastEventId: undefined },
      ...{
        signal: new AbortController().signal,
        streamId: undefined,
        hangUp() {},
        noteOrganization() {},
        noteCreated() {},
        setHeader() {},
      },
      ...{ onClose: onEnd },
    };
    const deps = {
      log,
      skippedEvents: { add: () => {} },
      organizationLimits: { enter: async () => () => {} },
      db: this.database.db,
    };
    try {
      return (await run(deps, this.#find(operation), { input, caller, request })) as T;
    } finally {
      for (const end of ended) end();
    }
  }

  /** Runs an activity, as a worker does. */
  async act<Name extends keyof Activities>(
    name: Name,
    ...args: Parameters<Activities[Name]>
  ): Promise<Awaited<ReturnType<Activities[Name]>>> {
    return await this.actIn(undefined, name, ...args);
  }

  /** The same, as an activity of this run of a workflow. */
  async actIn<Name extends keyof Activities>(
    runId: string | undefined,
    name: Name,
    ...args: Parameters<Activities[Name]>
  ): Promise<Awaited<ReturnType<Activities[Name]>>> {
    const info = runId === undefined ? {} : { workflowExecution: { workflowId: 'of this test', runId }, activityId: '1', attempt: 1 };
    const environment = new MockActivityEnvironment(info, { logger: new DefaultLogger('ERROR'), client: nobodyToTell });
    return (await environment.run(this.activities[name] as never, ...(args as never[]))) as Awaited<ReturnType<Activities[Name]>>;
  }

  async stop(): Promise<void> {
    await this.#close();
  }

  #find(operation: string): Procedure {
    let node: Procedure | ProcedureTree | undefined = this.#procedures;
    for (const name of operation.split('.')) node = node && !isProcedure(node) ? node[name] : undefined;
    if (!node || !isProcedure(node)) throw new Error(`There is no operation ${operation}`);
    return node;
  }
}

const log = pino({ level: 'silent' });
/** A client of Temporal: an attempt of three seconds, on a slow machine, has its workflow show that it runs. */
const nobodyToTell = {
  withAbortSignal: (_: AbortSignal, work: () => Promise<unknown>) => work(),
  withDeadline: async () => {},
} as unknown as Client;

function environmentOf({ billing }: ServiceOptions): Environment {
  return {
    ...{ NODE_ENV: 'test', AUTH_SECRET: 'a-secret-of-this-test-a-secret-of-this-test', DATABASE_URL: 'postgres://unused' },
    ...(billing ? billingOn : {}),
    ...{ BILLING_DUNNING_DAYS: String(graceDays), PLANS: JSON.stringify(planLimits) },
  };
}
