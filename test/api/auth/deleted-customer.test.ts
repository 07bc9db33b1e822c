import { expect } from 'chai';
import { listProblems } from '../../../domain/billing/problems.ts';
import { reconcile } from '../../../domain/payments/reconcile.ts';
import { billingCommand } from '../../../ops/commands/billing.ts';
import type { OpsContext } from '../../../ops/context.ts';
import { sendEvent } from './support/subscriber.ts';
import { useBilling } from './support/use-billing.ts';

describe("A customer that was deleted in Stripe's dashboard", () => {
  const { stripe, service, payments, subscriber } = useBilling();

  const upgrade = () => subscriber.owner.post('/subscription/upgrade', { plan: 'pro', referenceId: subscriber.organizationId });
  const customerOf = async () => {
    const rows = service.db.selectFrom('organization').select('stripeCustomerId').where('id', '=', subscriber.organizationId);
    return (await rows.executeTakeFirstOrThrow()).stripeCustomerId;
  };
  const problems = async () => (await listProblems(service.db, 10)).map(({ kind, subject }) => [kind, subject]);
  async function subscribe(customer = subscriber.customer): Promise<void> {
    stripe.state.subscribe({ customer, prices: [['price_pro', 1]] });
    const event = stripe.state.events.at(-1);
    if (event) expect((await sendEvent(service, event)).status).to.equal(200);
  }
  async function pay(checkoutId: string): Promise<void> {
    stripe.state.pay(checkoutId);
    const event = stripe.state.events.at(-1);
    if (event) expect((await sendEvent(service, event)).status).to.equal(200);
  }

  it('is replaced by the next checkout, which can be paid; the old subscription has ended, though no event told of it', async () => {
    await subscribe();
    stripe.state.deleteCustomer(subscriber.customer);
    const { status, body } = await upgrade();
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(await customerOf())
      .to.equal(body.customer)
      .and.not.equal(subscriber.customer);
    await pay(body.id);
    expect((await subscriber.rows()).map((row) => [row.status, row.stripeCustomerId])).to.have.deep.members([
      ['canceled', subscriber.customer],
      ['active', body.customer],
    ]);
    expect(await problems()).to.deep.equal([]);
  });

  it('is replaced each time, also within the day in which Stripe repeats the answer that made it', async () => {
    const made = new Set([subscriber.customer]);
    for (let time = 0; time < 3; time++) {
      stripe.state.deleteCustomer((await customerOf()) ?? '');
      expect((await upgrade()).status).to.equal(200);
      made.add((await customerOf()) ?? '');
    }
    expect(made.size).to.equal(4);
  });

  it('is forgotten by the daily comparison, which ends its subscriptions and tells the operator what to do, for a day', async () => {
    await subscribe();
    const { customer } = subscriber;
    stripe.state.deleteCustomer(customer);
    await reconcile(payments, { repair: false });
    expect(await customerOf()).to.equal(customer);
    expect(await problems()).to.deep.equal([['customer-deleted', customer]]);
    await reconcile(payments, { repair: true });
    expect(await customerOf()).to.equal(null);
    expect((await subscriber.rows()).map(({ status }) => status)).to.deep.equal(['canceled']);
    const told: string[] = [];
    const context = { db: service.db, print: (line: string) => told.push(line) } as unknown as OpsContext;
    await billingCommand.run([], context).catch(() => undefined);
    expect(told[1]).to.include(customer).and.include('the next checkout makes a new customer');
    expect((await upgrade()).status).to.equal(200);
    await reconcile(payments, { repair: true });
    expect(await problems()).to.deep.equal([]);
  });

  it('is no problem of an organization that is being deleted, which has ended it itself', async () => {
    await service.db
      .insertInto('organization_deletion')
      .values({ organization_id: subscriber.organizationId, requested_by: null })
      .execute();
    await reconcile(payments, { repair: true });
    stripe.state.deleteCustomer(subscriber.customer);
    await reconcile(payments, { repair: true });
    expect(await problems()).to.deep.equal([]);
    expect(await customerOf()).to.equal(subscriber.customer);
  });

  it('is no row that differs, if it pays and is of no organization: the operator is told, until it is of one', async () => {
    await service.db.updateTable('organization').set({ stripeCustomerId: null }).where('id', '=', subscriber.organizationId).execute();
    stripe.state.addCustomer('cus_stranger', 'an-organization-that-is-gone');
    const { id } = stripe.state.subscribe({ customer: 'cus_stranger', prices: [['price_pro', 1]] });
    stripe.state.deleteCustomer(subscriber.customer);
    for (const repair of [false, true, true]) {
      expect(await reconcile(payments, { repair })).to.deep.include({ subscriptions: 1, different: [], seats: [] });
      expect(await problems()).to.have.deep.members([
        ['unknown-customer', id],
        ['customer-left', 'cus_stranger'],
      ]);
    }
    await service.db
      .updateTable('organization')
      .set({ stripeCustomerId: 'cus_stranger' })
      .where('id', '=', subscriber.organizationId)
      .execute();
    expect((await reconcile(payments, { repair: true })).different).to.deep.equal([id]);
    expect((await problems()).map(([kind]) => kind)).to.not.include('unknown-customer');
    expect((await reconcile(payments, { repair: true })).different).to.deep.equal([]);
  });

  it('is not one that Stripe does not know at all, which may be the fault of the key: that one stays', async () => {
    stripe.state.customers.delete(subscriber.customer);
    const { status, body } = await upgrade();
    expect([status, body.code]).to.deep.equal([400, 'RESOURCE_MISSING']);
    await reconcile(payments, { repair: true });
    expect(await customerOf()).to.equal(subscriber.customer);
    expect(await problems()).to.deep.equal([['customer-missing', subscriber.customer]]);
  });

  it('leaves the list of customers without an organization when the operator has deleted it', async () => {
    stripe.state.addCustomer('cus_nobody', 'an-organization-that-is-gone');
    await reconcile(payments, { repair: true });
    expect(await problems()).to.deep.equal([['customer-left', 'cus_nobody']]);
    stripe.state.deleteCustomer('cus_nobody');
    await reconcile(payments, { repair: true });
    expect(await problems()).to.deep.equal([]);
  });
});
