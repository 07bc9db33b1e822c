import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { UserCaller } from '../../api/caller.ts';
import { ApiError } from '../../contract/api-error.ts';
import type { AiCall } from './ai-stand-in.ts';
import type { Break, Broken } from './connection-breaker.ts';
import type { MoneyState } from './money-state.ts';
import type { Service } from './service.ts';

/** What came of a call: a value, a refusal with a code, or another error; and the break, if the connection broke on the way. */
export interface Outcome<T> {
  value?: T;
  refusal?: ApiError;
  error?: unknown;
  broken?: Broken | undefined;
}

/** Work that waits for the AI service. */
interface OpenWork {
  /** The name of an attempt, or the id of a search. */
  id: string;
  call: AiCall;
  result: Promise<unknown>;
}

/** An organization with its owner and a workspace, and what is under way for it. */
export class Tenant {
  readonly service: Service;
  readonly organizationId = randomUUID();
  readonly customer = `cus_${randomUUID()}`;
  readonly owner: UserCaller;
  readonly attempts: (OpenWork & { jobId: string })[] = [];
  readonly searches: OpenWork[] = [];
  #names = 0;

  private constructor(service: Service) {
    this.service = service;
    const userId = `user-${this.organizationId}`;
    this.owner = {
      ...{ userId, email: `${userId}@example.com`, name: 'Ada', image: null, role: null, createdAt: new Date(0) },
      // As by an access token: no session of the database is given, in which a search would look again.
      ...{ sessionId: '', impersonatedBy: null, lacksTwoFactor: false, memberships: { [this.organizationId]: 'owner' } },
    };
  }

  static async create(service: Service, now: number): Promise<{ tenant: Tenant; state: MoneyState }> {
    const tenant = new Tenant(service);
    const { organizationId: id, customer, owner } = tenant;
    await tenant.setTime(now);
    const { db } = service.database;
    await db.insertInto('user').values({ id: owner.userId, name: owner.name, email: owner.email }).execute();
    await db
      .insertInto('organization')
      .values({ id, name: 'O', slug: `o-${id}`, stripeCustomerId: customer })
      .execute();
    await db.insertInto('member').values({ id, organizationId: id, userId: owner.userId, role: 'owner' }).execute();
    service.stripe.state.addCustomer(customer, id);
    const { id: workspaceId } = await service.call('workspaces.create', owner, { organizationId: id, name: 'Main', slug: 'main' });
    const none = { jobs: [], searches: [], subscriptions: [], rows: 0, members: [], invitations: [], byHand: null };
    return {
      tenant,
      state: { now, billing: service.options.billing, ...none, workspaces: [{ id: workspaceId, documents: [], budget: null }] },
    };
  }

  /** A name that this tenant has not used. */
  newName(prefix: string): string {
    return `${prefix}-${++this.#names}`;
  }

  async setTime(at: number): Promise<void> {
    this.service.stripe.state.now = Math.floor(at / 1_000);
    await this.service.database.setTime(new Date(at));
  }

  /** Does something, during which the connection may break. */
  async try<T>(work: () => Promise<T>, at?: Break): Promise<Outcome<T>> {
    const { breaker } = this.service;
    if (at) breaker.arm(at);
    try {
      return { value: await work(), broken: breaker.disarm() };
    } catch (error) {
      const broken = breaker.disarm();
      return error instanceof ApiError ? { refusal: error, broken } : { error, broken };
    }
  }

  /** Does what is repeated until it succeeds, as Temporal repeats activities and Stripe its events. */
  async untilDone<T>(work: () => Promise<T>, at?: Break): Promise<T> {
    const { error, broken, value } = await this.try(work, at);
    if (!error) return value as T;
    if (!broken) throw error;
    return await work();
  }

  call<T = any>(operation: string, input: unknown, idempotencyKey?: string): Promise<T> {
    return this.service.call(operation, this.owner, input, idempotencyKey);
  }

  /** Ends what is still under way, and removes the tenant, so that a sequence is as fast as the one before. */
  async remove(): Promise<void> {
    for (const { call, result } of [...this.attempts, ...this.searches]) {
      call.fail(false);
      await result.catch(() => {});
    }
    const { db } = this.service.database;
    const { state } = this.service.stripe;
    for (const rows of [state.customers, state.subscriptions, state.invoices]) rows.clear();
    state.events.length = 0;
    await db.deleteFrom('subscription').where('referenceId', '=', this.organizationId).execute();
    await sql`delete from organization where id = ${this.organizationId}`.execute(db);
    // Nothing delivers intents here, and a sweep waits until those of the sweep before are delivered.
    await db.deleteFrom('outbox').execute();
  }
}
