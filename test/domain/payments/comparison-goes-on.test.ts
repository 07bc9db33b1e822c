import { expect } from 'chai';
import { reconcile } from '../../../domain/payments/reconcile.ts';
import { createSubscriber } from '../../api/auth/support/subscriber.ts';
import { useBilling } from '../../api/auth/support/use-billing.ts';

describe('The daily comparison', () => {
  const { stripe, service, payments, subscriber } = useBilling();

  const statusesOf = async ({ rows }: typeof subscriber) => (await rows()).map(({ status }) => status);
  const failFor = (ids: string[]) => {
    stripe.failing = (request) => ids.some((id) => request === `GET /v1/subscriptions/${id}`);
  };

  it('goes on with the others if Stripe fails for one, and fails in the end', async () => {
    const other = await createSubscriber(service, stripe);
    const first = stripe.state.subscribe({ customer: subscriber.customer, prices: [['price_pro', 1]] });
    stripe.state.subscribe({ customer: other.customer, prices: [['price_pro', 1]] });
    failFor([first.id]);
    const failure = await reconcile(payments, { repair: true }).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Error).with.property('message', 'down');
    expect([await statusesOf(subscriber), await statusesOf(other)]).to.deep.equal([[], ['active']]);
    expect(stripe.requests.some((request) => request.startsWith('GET /v1/customers '))).to.equal(true);
    stripe.failing = undefined;
    expect((await reconcile(payments, { repair: true })).different).to.deep.equal([first.id]);
  });

  it('ends early if Stripe fails for many', async () => {
    const ids = Array.from({ length: 8 }, () => stripe.state.subscribe({ customer: subscriber.customer, prices: [['price_pro', 1]] }).id);
    failFor(ids);
    const failure = await reconcile(payments, { repair: true }).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Error).with.property('message', 'down');
    const asked = new Set(stripe.requests.filter((request) => request.startsWith('GET /v1/subscriptions/')));
    expect(asked.size).to.equal(5);
  });
});
