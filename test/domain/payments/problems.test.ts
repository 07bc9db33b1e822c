import { expect } from 'chai';
import { inTransaction } from '../../../db/transaction.ts';
import { endSubscriptions } from '../../../domain/billing/end-subscription.ts';
import { listProblems } from '../../../domain/billing/problems.ts';
import { syncPlanLimits } from '../../../domain/billing/sync-plan-limits.ts';
import { reconcile } from '../../../domain/payments/reconcile.ts';
import { useBilling } from '../../api/auth/support/use-billing.ts';

describe('What the operator is told of leaves the list without an event', () => {
  const { stripe, service, payments, subscriber } = useBilling();

  const compare = async () => {
    await reconcile(payments, { repair: true });
    return (await listProblems(service.db, 10)).map(({ kind, subject }) => [kind, subject]);
  };
  const subscribe = (customer = subscriber.customer): string => stripe.state.subscribe({ customer, prices: [['price_pro', 1]] }).id;

  /** As with billing turned off, by `npm run ops -- end-subscription`. */
  async function endByOperator(): Promise<void> {
    const { billing, ...rest } = service.config;
    await syncPlanLimits(service.db, { ...rest, billing: { ...billing, enabled: false } });
    await inTransaction(service.db, (trx) => endSubscriptions(trx, subscriber.organizationId));
    await syncPlanLimits(service.db, service.config);
  }

  it('once a subscription of a stranger has ended', async () => {
    stripe.state.addCustomer('cus_stranger');
    const id = subscribe('cus_stranger');
    expect(await compare()).to.deep.equal([['unknown-customer', id]]);
    stripe.state.end(id);
    expect(await compare()).to.deep.equal([]);
  });

  it('once an operator has ended a subscription that Stripe does not know', async () => {
    const id = subscribe();
    expect(await compare()).to.deep.equal([]);
    stripe.subscriptions.delete(id);
    expect(await compare()).to.deep.equal([['subscription-missing', id]]);
    await endByOperator();
    expect(await compare()).to.deep.equal([]);
  });

  it('once an operator has ended several subscriptions', async () => {
    for (const id of [subscribe(), subscribe()]) delete stripe.subscriptions.get(id)?.metadata.referenceId;
    expect(await compare()).to.deep.equal([['several-subscriptions', subscriber.customer]]);
    for (const { id } of [...stripe.subscriptions.values()]) stripe.state.end(id);
    await endByOperator();
    expect(await compare()).to.deep.equal([]);
  });

  it('once the organization is gone', async () => {
    const ids = [subscribe(), subscribe()];
    await compare();
    stripe.subscriptions.delete(ids[0] ?? '');
    expect((await compare()).map(([kind]) => kind)).to.have.members(['several-subscriptions', 'subscription-missing']);
    await service.db.deleteFrom('subscription').where('referenceId', '=', subscriber.organizationId).execute();
    await service.db.deleteFrom('organization').where('id', '=', subscriber.organizationId).execute();
    stripe.state.deleteCustomer(subscriber.customer);
    expect(await compare()).to.deep.equal([]);
  });

  it('once an organization has the customer that nobody had: it is not to be deleted then', async () => {
    stripe.state.addCustomer('cus_second', subscriber.organizationId);
    expect(await compare()).to.deep.equal([['customer-left', 'cus_second']]);
    stripe.state.deleteCustomer(subscriber.customer);
    const { body } = await subscriber.owner.post('/subscription/upgrade', { plan: 'pro', referenceId: subscriber.organizationId });
    expect(body.customer).to.equal('cus_second');
    expect((await listProblems(service.db, 10)).map(({ subject }) => subject)).to.not.include('cus_second');
    expect(await compare()).to.deep.equal([]);
  });
});
