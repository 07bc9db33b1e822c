import { expect } from 'chai';
import { buyPlan } from '../../../../domain/payments/buy-plan.ts';
import { syncSubscription } from '../../../../domain/payments/sync-subscription.ts';
import { until } from '../../../support/processes.ts';
import type { KilledService, Moment, Subject } from './killed-service.ts';

/** What happened to a subject: whether the client tried again, and until when its first try got. */
interface Fate {
  moment: Moment;
  again: boolean;
}

/** A call to Stripe that changes something there, and how a process comes to make it. */
export interface KilledCall {
  name: string;
  /** The moments that there are, each with the end state. Without `committed` nothing is stored afterwards. */
  ends: Partial<Record<Moment, string>>;
  prepare(service: KilledService): Promise<Subject>;
  /** Whether a request to Stripe is the call. */
  isIt(service: KilledService, subject: Subject, request: string): boolean;
  act(service: KilledService, subject: Subject): Promise<unknown>;
  /** Names the transaction that stores the answer; by default it is the subscription. */
  stored?(service: KilledService, subject: Subject): string;
  /** Fails unless the end state is as it must be, after everything else came to its end. */
  check(service: KilledService, subject: Subject, fate: Fate): Promise<void>;
}

const pro: [string, number][] = [['price_pro', 1]];
const team: [string, number][] = [
  ['price_team', 1],
  ['price_seat', 1],
];

/** Whether Stripe did it, by the first try or by another. */
const isDone = ({ moment, again }: Fate) => again || moment !== 'arrived';

const customersOf = ({ stripe }: KilledService, { organizationId }: Subject) =>
  [...stripe.state.customers.values()].filter(({ metadata }) => metadata?.organizationId === organizationId);

const plannedPhases = ({ stripe }: KilledService, { subscription }: Subject) =>
  stripe.state.schedules.get(stripe.subscriptions.get(subscription)?.schedule)?.phases.length ?? 0;

const organizationOf = ({ api }: KilledService, { organizationId }: Subject) =>
  api.database.db.selectFrom('organization').selectAll().where('id', '=', organizationId).executeTakeFirst();

async function cancellationsOf({ api, admin }: KilledService, { organizationId }: Subject): Promise<boolean[]> {
  const entries = api.database.db.selectFrom('audit_entry').select('actor_id').where('organization_id', '=', organizationId);
  return (await entries.where('action', '=', 'subscription.cancel').execute()).map(({ actor_id }) => actor_id === admin.id);
}

function cancel(immediately: boolean): Pick<KilledCall, 'prepare' | 'act'> {
  return {
    prepare: (service) => service.addSubject(pro),
    act: (service, { organizationId }) =>
      service.request(service.admin, 'POST', `/api/v1/admin/organizations/${organizationId}/cancel-subscription`, { immediately }),
  };
}

function isUpdate(subject: Subject, request: string): boolean {
  return request.startsWith(`POST /v1/subscriptions/${subject.subscription} `);
}

function isScheduleOf({ stripe }: KilledService, { subscription }: Subject, request: string, verb: '' | '/release'): boolean {
  const [, id = '', found = ''] = /^POST \/v1\/subscription_schedules\/(\w+)(\/release)?/.exec(request) ?? [];
  return found === verb && stripe.state.schedules.get(id)?.subscription === subscription;
}

const planDowngrade = (service: KilledService, subject: Subject) => service.upgrade(subject, 'pro', { scheduleAtPeriodEnd: true });

export const killedCalls: KilledCall[] = [
  {
    name: 'customers.create, for a first checkout',
    ends: {
      arrived: 'no customer, or the one of the next try',
      done: 'one customer, which the next try finds again or the daily comparison stores',
      committed: 'one customer, the stored one',
    },
    prepare: (service) => service.addSubject('none'),
    isIt: (_service, { organizationId }, request) => request.startsWith('POST /v1/customers ') && request.includes(organizationId),
    act: (service, subject) => service.upgrade(subject, 'pro'),
    stored: (service, subject) => customersOf(service, subject)[0]?.id,
    async check(service, subject, fate) {
      const customers = customersOf(service, subject);
      expect(customers).to.have.length(isDone(fate) ? 1 : 0);
      expect((await organizationOf(service, subject))?.stripeCustomerId).to.equal(customers[0]?.id ?? null);
      await until(() => !customers[0] || customersOf(service, subject)[0]?.name === subject.name);
      expect(service.openCheckouts({ ...subject, customer: customers[0]?.id })).to.have.length(fate.again ? 1 : 0);
    },
  },
  {
    name: 'checkout.sessions.create',
    ends: { arrived: 'no checkout, or that of the next try', done: 'one open checkout, which the next try replaces' },
    prepare: (service) => service.addSubject('customer'),
    isIt: (_service, { customer }, request) => request.startsWith('POST /v1/checkout/sessions ') && request.includes(customer),
    act: (service, subject) => service.upgrade(subject, 'pro'),
    async check(service, subject, fate) {
      expect(service.openCheckouts(subject)).to.have.length(isDone(fate) ? 1 : 0);
    },
  },
  {
    name: 'checkout.sessions.expire, of an earlier checkout',
    ends: {
      arrived: 'the earlier one can be paid and the new one is not known to anybody; once one is paid the other is closed',
      done: 'only the new one is open',
    },
    async prepare(service) {
      const subject = await service.addSubject('customer');
      expect((await service.upgrade(subject, 'pro')).status).to.equal(200);
      return subject;
    },
    isIt: ({ stripe }, { customer }, request) =>
      stripe.state.sessions.get(/^POST \/v1\/checkout\/sessions\/(\w+)\/expire/.exec(request)?.[1] ?? '')?.customer === customer,
    act: (service, subject) => service.upgrade(subject, 'team'),
    async check(service, subject, fate) {
      expect(service.openCheckouts(subject)).to.have.length(isDone(fate) ? 1 : 2);
      const paid = service.stripe.state.pay(service.openCheckouts(subject)[0]?.id);
      const isPaid = (session: Record<string, any>) => session.subscription === paid.id;
      expect(await service.sendEvent('checkout.session.completed', isPaid)).to.equal(200);
      expect(service.openCheckouts(subject)).to.deep.equal([]);
      const live = [...service.stripe.subscriptions.values()].filter(({ customer }) => customer === subject.customer);
      expect(live).to.have.length(1);
    },
  },
  {
    name: 'subscriptions.update, for an upgrade with seats',
    ends: {
      arrived: 'the plan of before, or charged once by the next try',
      done: 'charged once; the next try says that it is done, the daily comparison stores it',
      committed: 'charged once, and stored',
    },
    prepare: (service) => service.addSubject(pro),
    isIt: (_service, subject, request) => isUpdate(subject, request) && request.includes('price_team'),
    act: (service, subject) => service.upgrade(subject, 'team'),
    async check(service, subject, fate) {
      expect(service.charges(subject)).to.deep.equal(isDone(fate) ? ['change'] : []);
      expect(await service.row(subject)).to.include(isDone(fate) ? { plan: 'team', seats: 1 } : { plan: 'pro' });
    },
  },
  {
    name: 'subscriptionSchedules.create, for a downgrade at the end of the period',
    ends: { arrived: 'nothing is planned, or by the next try', done: 'a schedule that plans nothing, which the next try replaces' },
    prepare: (service) => service.addSubject(team),
    isIt: (_service, { subscription }, request) => request.startsWith('POST /v1/subscription_schedules ') && request.includes(subscription),
    act: planDowngrade,
    async check(service, subject, { again, moment }) {
      expect(plannedPhases(service, subject)).to.equal(again ? 2 : moment === 'done' ? 1 : 0);
      expect(service.charges(subject)).to.deep.equal([]);
    },
  },
  {
    name: 'subscriptionSchedules.update, for a downgrade at the end of the period',
    ends: {
      arrived: 'a schedule that plans nothing, which the next try replaces',
      done: 'planned once; the daily comparison stores it',
      committed: 'planned once, and stored',
    },
    prepare: (service) => service.addSubject(team),
    isIt: (service, subject, request) => isScheduleOf(service, subject, request, ''),
    act: planDowngrade,
    async check(service, subject, fate) {
      expect(plannedPhases(service, subject)).to.equal(isDone(fate) ? 2 : 1);
      expect((await service.row(subject))?.stripeScheduleId).to.equal(service.stripe.subscriptions.get(subject.subscription)?.schedule);
    },
  },
  {
    name: 'subscriptionSchedules.release, to take back a planned downgrade',
    ends: {
      arrived: 'planned still, or taken back by the next try',
      done: 'taken back; the next try says that nothing is planned, and stores it',
      committed: 'taken back, and stored',
    },
    async prepare(service) {
      const subject = await service.addSubject(team);
      const { organizationId, name, customer } = subject;
      const [plan] = service.payments.plans;
      const urls = { success: 'https://a.example', cancel: 'https://a.example', return: 'https://a.example' };
      const organization = { id: organizationId, name, stripeCustomerId: customer };
      if (plan) await buyPlan(service.payments, { organization, userId: subject.owner.id, plan, atPeriodEnd: true, urls });
      expect(plannedPhases(service, subject)).to.equal(2);
      return subject;
    },
    isIt: (service, subject, request) => isScheduleOf(service, subject, request, '/release'),
    act: (service, { organizationId, owner }) =>
      service.request(owner, 'POST', '/api/auth/subscription/restore', { referenceId: organizationId }),
    async check(service, subject, fate) {
      expect(plannedPhases(service, subject)).to.equal(isDone(fate) ? 0 : 2);
      const { schedule } = service.stripe.subscriptions.get(subject.subscription) ?? {};
      expect((await service.row(subject))?.stripeScheduleId).to.equal(schedule);
    },
  },
  {
    name: 'subscriptions.update, to take back a cancellation',
    ends: {
      arrived: 'it ends with its period, or goes on by the next try',
      done: 'it goes on; the next try says that it does, and stores it',
      committed: 'it goes on, and stored',
    },
    async prepare(service) {
      const subject = await service.addSubject(pro);
      service.stripe.state.edit(subject.subscription, (subscription) => {
        subscription.cancel_at_period_end = true;
      });
      await syncSubscription(service.payments, subject.subscription);
      return subject;
    },
    isIt: (_service, subject, request) => isUpdate(subject, request) && request.includes('cancel_at_period_end=false'),
    act: (service, { organizationId, owner }) =>
      service.request(owner, 'POST', '/api/auth/subscription/restore', { referenceId: organizationId }),
    async check(service, subject, fate) {
      expect(service.stripe.subscriptions.get(subject.subscription)?.cancel_at_period_end).to.equal(!isDone(fate));
      expect(await service.row(subject)).to.include({ cancelAtPeriodEnd: !isDone(fate), status: 'active' });
    },
  },
  {
    name: 'subscriptions.update, for a cancellation by a platform admin',
    ends: {
      arrived: 'it goes on, or ends by the next try',
      done: 'it ends with its period; row and audit log say so, and who did it',
      committed: 'it ends with its period, and stored',
    },
    ...cancel(false),
    isIt: (_service, subject, request) => isUpdate(subject, request) && request.includes('cancel_at_period_end=true'),
    async check(service, subject, fate) {
      expect(await service.row(subject)).to.include({ cancelAtPeriodEnd: isDone(fate), status: 'active' });
      const asked = fate.again && fate.moment === 'committed' ? [true, true] : isDone(fate) ? [true] : [];
      expect(await cancellationsOf(service, subject)).to.deep.equal(asked);
    },
  },
  {
    name: 'subscriptions.cancel, by a platform admin',
    ends: {
      arrived: 'it goes on, or is canceled by the next try',
      done: 'canceled; row and audit log say so, and who did it',
      committed: 'canceled, and stored',
    },
    ...cancel(true),
    isIt: (_service, { subscription }, request) => request === `DELETE /v1/subscriptions/${subscription}`,
    async check(service, subject, fate) {
      expect((await service.row(subject))?.status).to.equal(isDone(fate) ? 'canceled' : 'active');
      expect(await cancellationsOf(service, subject)).to.deep.equal(isDone(fate) ? [true] : []);
    },
  },
  {
    name: 'subscriptions.update, for the seats of a new member',
    ends: {
      arrived: 'the workflow does it again: charged once',
      done: 'the workflow finds it done: charged once, and stored',
      committed: 'charged once, and stored',
    },
    prepare: (service) => service.addSubject(team),
    isIt: (_service, subject, request) => isUpdate(subject, request) && request.includes('quantity'),
    act: async (service, { organizationId }) => service.api.addMember(organizationId, await service.api.signUp(), 'member'),
    async check(service, subject, { again }) {
      const seats = again ? 3 : 2;
      await until(async () => (await service.row(subject))?.seats === seats);
      expect(service.stripe.subscriptions.get(subject.subscription)?.items.data[1].quantity).to.equal(seats);
      // Members who come together are one change: each count is charged for once at the most.
      const counts = service.stripe.state.charges.filter((each) => each.subscription === subject.subscription).map(({ items }) => items[0]);
      expect(counts.at(-1)).to.equal(`price_seat × ${seats}`);
      expect(new Set(counts).size).to.equal(counts.length);
    },
  },
  {
    name: 'customers.del, at the deletion of an organization',
    ends: { arrived: 'the workflow does it again: customer and rows are gone', done: 'the workflow goes on: customer and rows are gone' },
    prepare: (service) => service.addSubject('customer'),
    isIt: (_service, { customer }, request) => request === `DELETE /v1/customers/${customer}`,
    act: (service, { organizationId }) =>
      service.request(service.admin, 'DELETE', `/api/v1/admin/organizations/${organizationId}`, { confirmSlug: organizationId }),
    async check(service, subject) {
      await until(async () => (await organizationOf(service, subject)) === undefined, 90_000);
      expect(service.stripe.state.customers.get(subject.customer)?.deleted).to.equal(true);
    },
  },
  {
    name: 'customers.update, after an organization got another name',
    ends: { arrived: 'the workflow does it again', done: 'the workflow finds it done' },
    prepare: (service) => service.addSubject('customer'),
    isIt: (_service, { customer }, request) => request.startsWith(`POST /v1/customers/${customer} `),
    act: (service, { organizationId, owner }) =>
      service.request(owner, 'POST', '/api/auth/organization/update', { organizationId, data: { name: 'Renamed' } }),
    async check(service, subject) {
      await until(() => service.stripe.state.customers.get(subject.customer)?.name === 'Renamed');
    },
  },
  {
    name: 'subscriptions.update, to end the lesser of two that were paid',
    ends: {
      arrived: 'Stripe sends the event again, or the daily comparison does it: one goes on',
      done: 'one goes on; the row of the other says that it ends',
      committed: 'one goes on, and stored',
    },
    async prepare(service) {
      const subject = await service.addSubject(team);
      await service.subscribe(subject, pro);
      service.stripe.state.tell('checkout.session.completed', { object: 'checkout.session', subscription: subject.subscription });
      return subject;
    },
    isIt: (_service, subject, request) => isUpdate(subject, request) && request.includes('cancel_at_period_end=true'),
    act: (service, { subscription }) => service.sendEvent('checkout.session.completed', (session) => session.subscription === subscription),
    async check(service, subject) {
      expect(await service.row(subject)).to.include({ plan: 'pro', cancelAtPeriodEnd: true });
      const renewing = [...service.stripe.subscriptions.values()].filter(
        ({ customer, cancel_at_period_end }) => customer === subject.customer && !cancel_at_period_end,
      );
      expect(renewing.map(({ items }) => items.data[0].price.id)).to.deep.equal(['price_team']);
    },
  },
];
