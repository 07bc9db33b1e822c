import { expect } from 'chai';
import { sql } from 'kysely';
import pino from 'pino';
import type Stripe from 'stripe';
import { createPayments, type Payments } from '../../../domain/payments/payments.ts';
import { reconcile } from '../../../domain/payments/reconcile.ts';
import { takeEvent } from '../../../domain/payments/take-event.ts';
import { type AuthService, billingOn, startAuthService } from '../../api/auth/support/service.ts';
import { createSubscriber, type Subscriber } from '../../api/auth/support/subscriber.ts';
import { type StripeEvent, type StripeServer, startStripeServer } from '../../lab/stripe-stand-in/stripe-server.ts';
import { StripeState } from '../../lab/stripe-stand-in/stripe-state.ts';
import { nightly } from '../../support/nightly.ts';

/** An event, and everything that Stripe held when it was sent. */
interface Recorded {
  event: StripeEvent;
  subscription: Record<string, any>;
  invoices: Map<string, Record<string, any>>;
}

/** A year of one subscription, as Stripe tells it. */
function recordYear(customer: string): Recorded[] {
  const state = new StripeState();
  const recorded: Recorded[] = [];
  let id = '';
  const step = (happen: () => void) => {
    happen();
    const held = { subscription: structuredClone(state.subscriptions.get(id) ?? {}), invoices: structuredClone(state.invoices) };
    for (const event of state.events.slice(recorded.length)) recorded.push({ event, ...held });
  };
  const edit = (change: (subscription: Record<string, any>) => void) => step(() => state.edit(id, change));
  step(() => {
    ({ id } = state.subscribe({ customer, prices: [['price_pro', 1]], trialDays: 14 }));
  });
  step(() =>
    state.tell('checkout.session.completed', { id: 'cs_year', object: 'checkout.session', mode: 'subscription', subscription: id }),
  );
  step(() => state.tell('customer.subscription.trial_will_end', state.subscriptions.get(id) ?? {}));
  step(() => state.renew(id));
  step(() => state.renew(id));
  let unpaid = '';
  step(() => {
    unpaid = state.renew(id, false).id;
  });
  step(() => state.failPayment(unpaid));
  step(() => state.recover(id));
  edit(({ items }) => {
    items.data[0].price = { ...items.data[0].price, id: 'price_team' };
  });
  step(() => state.renew(id));
  edit((subscription) => {
    subscription.cancel_at_period_end = true;
  });
  edit((subscription) => {
    subscription.cancel_at_period_end = false;
  });
  step(() => state.renew(id, false));
  step(() => state.recover(id));
  edit((subscription) => {
    subscription.cancel_at_period_end = true;
  });
  step(() => state.end(id));
  return recorded;
}

const told = [
  'subscription.create pro trialing',
  'subscription.update pro active',
  'subscription.update pro past_due',
  'subscription.update pro active',
  'subscription.update team active',
  'subscription.update team active ending',
  'subscription.update team active',
  'subscription.update team past_due',
  'subscription.update team active',
  'subscription.update team active ending',
  'subscription.update team canceled ending',
];

/** What the service writes when it takes an event. */
const tables = ['subscription', 'audit_entry', 'stripe_event', 'payment_failure', 'mail'] as const;

describe('A year of a subscription', () => {
  let stripe: StripeServer;
  let service: AuthService;
  let payments: Payments;
  let subscriber: Subscriber;
  let year: Recorded[];
  before(async () => {
    stripe = await startStripeServer();
    service = await startAuthService({ ...billingOn, STRIPE_API_BASE: stripe.url });
    const made = createPayments({ ...service, log: pino({ level: 'silent' }) });
    if (!made) throw new Error('Billing is off');
    payments = made;
    subscriber = await createSubscriber(service, stripe);
    year = recordYear(subscriber.customer);
    await sql`create schema remembered`.execute(service.db);
    for (const table of tables) {
      await sql`create table ${sql.table(`remembered.${table}`)} as table ${sql.table(table)} with no data`.execute(service.db);
    }
  });
  after(async () => {
    await service.stop();
    await stripe.stop();
  });
  beforeEach(() => forget());

  async function forget(): Promise<void> {
    for (const table of tables) await service.db.deleteFrom(table).execute();
  }

  /** Notes all that the service holds of the year so far. The returned function brings it back. */
  async function remember(): Promise<() => Promise<void>> {
    await copy((table) => [table, `remembered.${table}`]);
    return () => copy((table) => [`remembered.${table}`, table]);
  }
  async function copy(way: (table: string) => [from: string, to: string]): Promise<void> {
    await service.db.transaction().execute(async (trx) => {
      // Nothing happens to these rows: triggers would tell of changes.
      await sql`set local session_replication_role = replica`.execute(trx);
      for (const [from, to] of tables.map(way)) {
        await sql`delete from ${sql.table(to)}`.execute(trx);
        await sql`insert into ${sql.table(to)} table ${sql.table(from)}`.execute(trx);
      }
    });
  }

  /** Delivers an event while Stripe holds what it held at the time of another. */
  async function deliver(index: number, at = index): Promise<void> {
    const [sent, held] = [year[index], year[at]];
    if (!sent || !held) throw new Error(`There is no event ${index}`);
    stripe.subscriptions.clear();
    stripe.subscriptions.set(held.subscription.id, held.subscription);
    stripe.state.invoices.clear();
    for (const [id, invoice] of held.invoices) stripe.state.invoices.set(id, invoice);
    await takeEvent(payments, sent.event as unknown as Stripe.Event);
  }

  /** What the service holds in the end, of what Stripe knows, too. */
  async function ending() {
    const rows = await subscriber.rows();
    const mails = await service.db.selectFrom('mail').select('id').execute();
    return { rows: rows.map(({ id, syncedAt, syncedFetch, ...row }) => row), entries: await subscriber.entries(), mails: mails.length };
  }
  function expectStripes({ rows }: Awaited<ReturnType<typeof ending>>): void {
    const last = year.at(-1)?.subscription;
    const item = last?.items.data[0];
    expect(rows).to.deep.equal([
      {
        ...{ plan: 'team', referenceId: subscriber.organizationId, status: 'canceled', seats: 1, billingInterval: 'month' },
        ...{
          stripeCustomerId: subscriber.customer,
          stripeSubscriptionId: last?.id,
          stripeScheduleId: null,
          createdAt: date(last?.created),
        },
        ...{ periodStart: date(item.current_period_start), periodEnd: date(item.current_period_end), pastDueSince: null },
        ...{ trialStart: date(last?.trial_start), trialEnd: date(last?.trial_end), cancelAtPeriodEnd: true, cancelAt: null },
        ...{ canceledAt: date(last?.canceled_at), endedAt: date(last?.ended_at) },
      },
    ]);
  }
  /** Entries say only what was so, in its order, each change once: some may be missing whose events came too late. */
  function expectTrue(entries: string[]): void {
    let at = -1;
    const states = told.map((entry) => entry.replace(/^\S+ /, ''));
    entries.forEach((entry, index) => {
      expect(entry.startsWith(index === 0 ? 'subscription.create ' : 'subscription.update '), entries.join('\n')).to.equal(true);
      at = states.indexOf(entry.replace(/^\S+ /, ''), at + 1);
      expect(at, entries.join('\n')).to.be.at.least(0);
    });
    expect(states[at]).to.equal(states.at(-1));
  }

  /** How many invoices were still to be paid when an event told that their payment had failed; `at` says when an event is delivered. */
  function untilPaid(at: (index: number) => number): number {
    const failed = [...year.entries()].filter(([, { event }]) => event.type === 'invoice.payment_failed');
    const open = failed.filter(([index, { event }]) => year[at(index)]?.invoices.get(event.data.object.id)?.status === 'open');
    return new Set(open.map(([, { event }]) => event.data.object.id)).size;
  }

  it("in order: the rows are Stripe's, and the audit log tells every change", async () => {
    for (const index of year.keys()) await deliver(index);
    const end = await ending();
    expectStripes(end);
    expect(end.entries).to.deep.equal(told);
    expect(end.mails).to.equal(2);
  });

  it('reversed, after it was over: the end, and nothing else', async () => {
    for (const index of [...year.keys()].reverse()) await deliver(index, year.length - 1);
    const end = await ending();
    expectStripes(end);
    expect(end.entries).to.deep.equal(['subscription.create team canceled ending']);
    expect(end.mails).to.equal(0);
  });

  it('twice, each event at once and all of it again: as in order', async () => {
    for (const index of year.keys()) {
      await deliver(index);
      await deliver(index);
    }
    for (const index of year.keys()) await deliver(index, year.length - 1);
    const end = await ending();
    expectStripes(end);
    expect(end.entries).to.deep.equal(told);
    expect(end.mails).to.equal(2);
  });

  nightly('with each event delayed until after each later one', async () => {
    let orders = 0;
    for (const late of year.keys()) {
      await forget();
      for (let before = 0; before < late; before++) await deliver(before);
      for (let after = late + 1; after < year.length; after++, orders++) {
        // All that came before is the same for each event that the late one comes after.
        await deliver(after);
        const comeBack = await remember();
        await deliver(late, after);
        for (let later = after + 1; later < year.length; later++) await deliver(later);
        const end = await ending();
        expectStripes(end);
        expectTrue(end.entries);
        expect(end.mails, `${late} after ${after}`).to.equal(untilPaid((index) => (index === late ? after : index)));
        await comeBack();
      }
    }
    console.log(`        ${year.length} events, ${orders} orders of pairs`);
  }).timeout(300_000);

  nightly('with each event lost: the next one, or the daily comparison, makes up for it', async () => {
    for (const lost of year.keys()) {
      await forget();
      for (const index of year.keys()) if (index !== lost) await deliver(index);
      stripe.subscriptions.set(year.at(-1)?.subscription.id, year.at(-1)?.subscription ?? {});
      const { different } = await reconcile(payments, { repair: true });
      expect(different.length, `event ${lost}`).to.equal(lost === year.length - 1 ? 1 : 0);
      const end = await ending();
      expectStripes(end);
      expectTrue(end.entries);
    }
  }).timeout(120_000);

  nightly('with the answers to every two events that follow each other stored in the other order', async () => {
    for (let index = 0; index + 1 < year.length; index++) {
      await forget();
      for (let before = 0; before < index; before++) await deliver(before);
      const asked = Promise.withResolvers<void>();
      const held = Promise.withResolvers<void>();
      stripe.beforeAnswer = () => {
        stripe.beforeAnswer = undefined;
        asked.resolve();
        return held.promise;
      };
      const slow = deliver(index);
      await asked.promise;
      await deliver(index + 1);
      held.resolve();
      await slow;
      for (let later = index + 2; later < year.length; later++) await deliver(later);
      const end = await ending();
      expectStripes(end);
      expectTrue(end.entries);
    }
  }).timeout(120_000);
});

function date(seconds: number): Date {
  return new Date(seconds * 1000);
}
