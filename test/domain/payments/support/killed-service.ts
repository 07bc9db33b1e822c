import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import pino from 'pino';
import Stripe from 'stripe';
import { loadServerConfig } from '../../../../base/config/server.ts';
import { createPayments, type Payments } from '../../../../domain/payments/payments.ts';
import { syncSubscription } from '../../../../domain/payments/sync-subscription.ts';
import { billingOn } from '../../../api/auth/support/service.ts';
import { type StripeServer, startStripeServer } from '../../../lab/stripe-stand-in/stripe-server.ts';
import { type Answer, startTestApi, type TestApi, type TestUser } from '../../../support/api.ts';
import { type CommitProxy, startCommitProxy } from '../../../support/commit-proxy.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { until } from '../../../support/processes.ts';
import { withTimes } from '../../../support/times.ts';

/** Where a process is killed: when its request has arrived at Stripe and nothing is done, when the work is done, when its answer is stored. */
export const moments = ['arrived', 'done', 'committed'] as const;
export type Moment = (typeof moments)[number];

/** An organization whose request is cut off. */
export interface Subject {
  organizationId: string;
  /** One of its own: the service bounds how many changes of one user are under way. */
  owner: TestUser;
  name: string;
  customer: string;
  /** Stripe's id of its subscription, if the call needs one. */
  subscription: string;
}

/** The API with its worker, in a process that is killed, at the stand-in of Stripe. */
export class KilledService {
  readonly stripe: StripeServer;
  readonly api: TestApi;
  /** What the test itself works with, beside the process. */
  readonly payments: Payments;
  readonly #proxy: CommitProxy;
  readonly admin: TestUser;

  constructor(parts: { stripe: StripeServer; api: TestApi; proxy: CommitProxy; payments: Payments; admin: TestUser }) {
    this.stripe = parts.stripe;
    this.api = parts.api;
    this.#proxy = parts.proxy;
    this.payments = parts.payments;
    this.admin = parts.admin;
  }

  static async start(): Promise<KilledService> {
    const stripe = await startStripeServer();
    const database = await createTestDatabase({ poolSize: 4 });
    const proxy = await startCommitProxy(database.url);
    const env = { ...billingOn, STRIPE_SEAT_PRICE_TEAM: 'price_seat', STRIPE_API_BASE: stripe.url };
    const api = await startTestApi({
      process: true,
      env: withTimes({ deletionWait: 500 }, { ...env, DATABASE_URL: proxy.url, DATABASE_POOL_SIZE: '60' }),
      database,
    });
    const config = loadServerConfig({ ...api.stack.env, DATABASE_URL: database.url });
    const payments = createPayments({ config, db: database.db, log: pino({ level: 'silent' }) });
    if (!payments) throw new Error('Billing is off');
    const admin = await api.signUp('Admin');
    await api.makePlatformAdmin(admin);
    return new KilledService({ stripe, api, proxy, payments, admin });
  }

  async stop(): Promise<void> {
    await this.api.stop();
    await this.#proxy.stop();
    await this.stripe.stop();
  }

  /** An organization; a customer unless it is to become one, with what it pays for. */
  async addSubject(prices: [price: string, quantity: number][] | 'customer' | 'none'): Promise<Subject> {
    const { db } = this.api.database;
    const id = randomUUID();
    const customer = prices === 'none' ? '' : `cus_${id}`;
    const name = `Organization ${id}`;
    const organization = { id, name, slug: id, stripeCustomerId: customer || null };
    await db.insertInto('organization').values(organization).execute();
    const owner = await this.api.signUp();
    await this.api.addMember(id, owner, 'owner');
    if (customer) this.stripe.state.addCustomer(customer, id).name = name;
    const subject = { organizationId: id, owner, name, customer, subscription: '' };
    if (typeof prices !== 'string') await this.subscribe(subject, prices);
    return subject;
  }

  /** The organization has paid at a checkout, and the row says so. */
  async subscribe(subject: Subject, prices: [price: string, quantity: number][]): Promise<void> {
    const { customer, organizationId } = subject;
    const { id } = this.stripe.state.subscribe({ customer, prices, metadata: { referenceId: organizationId } });
    subject.subscription = id;
    await syncSubscription(this.payments, id);
  }

  request({ token }: TestUser, method: string, path: string, body?: object): Promise<Answer> {
    return this.api.request(method, path, { token, body });
  }

  upgrade({ organizationId, owner }: Subject, plan: string, more: object = {}): Promise<Answer> {
    return this.request(owner, 'POST', '/api/auth/subscription/upgrade', { plan, referenceId: organizationId, ...more });
  }

  /** Sends the last event of a type about an object, signed as Stripe signs. */
  async sendEvent(type: string, isIt: (object: Record<string, any>) => boolean): Promise<number> {
    const event = this.stripe.state.events.findLast((each) => each.type === type && isIt(each.data.object));
    const payload = JSON.stringify({ object: 'event', ...event });
    const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret: 'whsec_test' });
    const headers = { 'content-type': 'application/json', 'stripe-signature': signature };
    return (await fetch(`${this.api.url}/api/auth/stripe/webhook`, { method: 'POST', headers, body: payload })).status;
  }

  row({ subscription }: Subject) {
    const rows = this.api.database.db.selectFrom('subscription').selectAll();
    return rows.where('stripeSubscriptionId', '=', subscription).executeTakeFirst();
  }

  /** The open checkouts of a customer at Stripe. */
  openCheckouts({ customer }: Subject) {
    return [...this.stripe.state.sessions.values()].filter((each) => each.customer === customer && each.status === 'open');
  }

  /** Everything that a customer was charged for, but for what its subscription began with. */
  charges({ subscription }: Subject): string[] {
    return this.stripe.state.charges.filter((each) => each.subscription === subscription).map(({ reason }) => reason);
  }

  /** Starts the daily comparison now. */
  startReconciliation() {
    const options = { taskQueue: 'sheaf', workflowId: `reconcile-${randomUUID()}`, args: [] };
    return this.api.temporal.client.workflow.start('reconcileBilling', options);
  }

  async reconcile(): Promise<{ different: string[]; seats: string[] }> {
    return await (await this.startReconciliation()).result();
  }

  /**
   * Kills the process with SIGKILL when each of the requests is at its moment, and starts it again. `isIt` says whether a request to
   * Stripe is the one; `stored` what the transaction that stores the answer names.
   */
  async killAt(
    moment: Moment,
    cuts: { name: string; isIt: (request: string) => boolean; stored: () => string; act: () => Promise<unknown> }[],
  ) {
    const reached = new Set<object>();
    // The answers come together: a commit whose answer is held for seconds is a database that has gone silent, and is given up.
    const done = new Set<object>();
    let answerAll = () => {};
    const allDone = new Promise<void>((resolve) => {
      answerAll = resolve;
    });
    this.stripe.hold = (request, at, gone) => {
      const cut = cuts.find(({ isIt }) => isIt(request));
      if (!cut) return undefined;
      if (at === moment) {
        reached.add(cut);
        return gone;
      }
      if (at !== 'done' || moment !== 'committed') return undefined;
      this.#proxy.holdCommitOf(cut.stored(), () => reached.add(cut));
      if (done.add(cut).size === cuts.length) answerAll();
      return allDone;
    };
    const ends = new Map<object, unknown>();
    const acts = cuts.map(async (cut) => {
      // On a busy machine the service may refuse one for the moment; its client comes again, as Stripe does with an event.
      do ends.set(cut, await cut.act().catch((error: unknown) => error));
      while (!reached.has(cut) && isRefused(ends.get(cut)) && (await delay(500, true)));
    });
    await until(() => reached.size === cuts.length, 90_000).catch((error) => {
      const missing = cuts.filter((cut) => !reached.has(cut)).map((cut) => `${cut.name} (${inspect(ends.get(cut))})`);
      throw new Error(`Not reached (${moment}): ${missing.join(', ')}`, { cause: error });
    });
    await this.api.stack.kill('api');
    await Promise.all(acts);
    this.stripe.hold = undefined;
    await this.api.stack.start('api');
  }
}

/** An answer, or the status of one to an event, after which the same is tried again. */
function isRefused(end: unknown): boolean {
  return typeof end === 'number' ? end >= 400 : typeof end === 'object' && end !== null && 'status' in end && end.status === 503;
}
