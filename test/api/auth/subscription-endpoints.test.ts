import { expect } from 'chai';
import { createSubscriber, sendEvent } from './support/subscriber.ts';
import { useBilling } from './support/use-billing.ts';

describe('The endpoints of subscriptions', () => {
  const { stripe, service, subscriber } = useBilling();

  /** Subscribes at Stripe, changes the subscription there, and tells the service of all of it. Returns its id. */
  async function subscribe(change: (id: string) => void = () => {}): Promise<string> {
    const first = stripe.state.events.length;
    const { id } = stripe.state.subscribe({ customer: subscriber.customer, prices: [['price_pro', 1]] });
    change(id);
    for (const event of stripe.state.events.slice(first)) expect((await sendEvent(service, event)).status).to.equal(200);
    stripe.requests.length = 0;
    return id;
  }
  const endingWithPeriod = (ends: boolean) => (id: string) =>
    stripe.state.edit(id, (subscription) => {
      subscription.cancel_at_period_end = ends;
    });
  const post = async (path: string, body: object = {}) => {
    const answer = await subscriber.owner.post(`/subscription/${path}`, { referenceId: subscriber.organizationId, ...body });
    return [answer.status, answer.body.code];
  };
  const statuses = async () => (await subscriber.rows()).map(({ status }) => status);

  it('list what the organization has on trial or active, and nothing that only the service needs', async () => {
    const other = await createSubscriber(service, stripe);
    const rows = ['active', 'trialing', 'past_due', 'canceled', 'incomplete'].map((status) => ({
      ...{ id: `${status}-of-${subscriber.organizationId}`, plan: 'pro', status, referenceId: subscriber.organizationId },
      ...{ syncedAt: new Date(), syncedFetch: '1', pastDueSince: new Date() },
    }));
    const ofOther = { id: 'other', plan: 'pro', status: 'active', referenceId: other.organizationId };
    await service.db
      .insertInto('subscription')
      .values([...rows, ofOther])
      .execute();
    const { body } = await subscriber.owner.get(`/subscription/list?referenceId=${subscriber.organizationId}`);
    expect(body.map(({ status, priceId }: any) => [status, priceId])).to.deep.equal([
      ['active', 'price_pro'],
      ['trialing', 'price_pro'],
    ]);
    for (const row of body) expect(row).not.to.have.any.keys('syncedAt', 'syncedFetch', 'pastDueSince');
  });

  it('refuse an organization that is named by nothing, or as a list: it is not the active one', async () => {
    const { owner } = subscriber;
    expect((await owner.get('/subscription/list')).status).to.equal(200);
    const queries = [
      'referenceId=',
      'referenceId[]=',
      'referenceId%5B%5D=of-another',
      'referenceId[0]=of-another',
      'referenceId=a&referenceId=b',
    ];
    for (const query of queries) {
      const { status, body } = await owner.get(`/subscription/list?${query}`);
      expect([status, body.code], query).to.deep.equal([400, 'VALIDATION_ERROR']);
    }
    const answers = [
      await owner.get('/organization/list-members?organizationId='),
      await owner.post('/organization/leave', { organizationId: '' }),
    ];
    for (const { status, body } of answers) expect([status, body.code]).to.deep.equal([400, 'VALIDATION_ERROR']);
    expect(await post('cancel', { referenceId: '', returnUrl: '/' })).to.deep.equal([400, 'VALIDATION_ERROR']);
  });

  it('act on the one that is paid for, if none is named', async () => {
    const paid = await subscribe();
    await subscribe((id) => stripe.state.renew(id, false));
    expect(await statuses()).to.have.members(['active', 'past_due']);
    expect(await post('cancel', { returnUrl: '/' })).to.deep.equal([200, undefined]);
    expect(stripe.requests.find((request) => request.startsWith('POST /v1/billing_portal/sessions'))).to.include(paid);
  });

  async function startTrial(): Promise<string> {
    const { id } = stripe.state.subscribe({ customer: subscriber.customer, prices: [['price_pro', 1]], trialDays: 400 });
    for (const event of stripe.state.events.slice(-1)) await sendEvent(service, event);
    expect(await statuses()).to.have.members(['active', 'trialing']);
    stripe.requests.length = 0;
    return id;
  }
  const portalRequest = () => stripe.requests.find((request) => request.startsWith('POST /v1/billing_portal/sessions'));

  it('act on the one that is paid for beside a trial that lasts longer', async () => {
    const paid = await subscribe();
    const trial = await startTrial();
    expect(await post('cancel', { returnUrl: '/' })).to.deep.equal([200, undefined]);
    expect(portalRequest()).to.include(paid).and.not.include(trial);
  });

  it('cancel and upgrade the trial that goes on beside a paid one that ends, and restore the one that ends', async () => {
    const paid = await subscribe(endingWithPeriod(true));
    const trial = await startTrial();
    const { body } = await subscriber.owner.get(`/subscription/list?referenceId=${subscriber.organizationId}`);
    expect(body).to.have.length(2);
    for (const [path, asked] of [
      ['cancel', { returnUrl: '/' }],
      ['upgrade', { plan: 'team', successUrl: '/', cancelUrl: '/' }],
    ] as const) {
      stripe.requests.length = 0;
      expect(await post(path, asked)).to.deep.equal([200, undefined]);
      expect(portalRequest(), path).to.include(trial).and.not.include(paid);
    }
    expect(await post('restore')).to.deep.equal([200, undefined]);
    expect(stripe.subscriptions.get(paid)?.cancel_at_period_end).to.equal(false);
  });

  it('list one as ending that got the date of its period end as its end', async () => {
    await subscribe((id) =>
      stripe.state.edit(id, (subscription) => {
        subscription.cancel_at = subscription.items.data[0]?.current_period_end;
      }),
    );
    const { body } = await subscriber.owner.get(`/subscription/list?referenceId=${subscriber.organizationId}`);
    expect(body[0]).to.include({ cancelAtPeriodEnd: true, cancelAt: body[0].periodEnd });
  });

  it('find none to cancel that Stripe has ended, though no event told of it', async () => {
    const id = await subscribe();
    stripe.state.end(id);
    expect(await post('cancel', { returnUrl: '/' })).to.deep.equal([400, 'SUBSCRIPTION_NOT_FOUND']);
    expect(await statuses()).to.deep.equal(['canceled']);
    expect(await post('restore')).to.deep.equal([400, 'SUBSCRIPTION_NOT_FOUND']);
  });

  it('take back the cancellation of one that is past due', async () => {
    const id = await subscribe((made) => {
      endingWithPeriod(true)(made);
      stripe.state.edit(made, (subscription) => {
        subscription.status = 'past_due';
      });
    });
    expect(await post('restore')).to.deep.equal([200, undefined]);
    expect(stripe.subscriptions.get(id)?.cancel_at_period_end).to.equal(false);
  });

  it('show what Stripe says once a cancellation has been taken back there', async () => {
    const id = await subscribe(endingWithPeriod(true));
    expect((await subscriber.rows())[0]).to.include({ cancelAtPeriodEnd: true });
    endingWithPeriod(false)(id);
    expect(await post('restore')).to.deep.equal([400, 'SUBSCRIPTION_NOT_PENDING_CHANGE']);
    expect((await subscriber.rows())[0]).to.include({ cancelAtPeriodEnd: false });
  });

  it('sell nothing by the year', async () => {
    expect(await post('upgrade', { plan: 'pro', annual: true })).to.deep.equal([400, 'PRICE_NOT_FOUND']);
    expect(stripe.requests).to.deep.equal([]);
  });

  it('ask Stripe for a checkout only for who is signed in', async () => {
    const path = '/subscription/success?callbackURL=/&checkoutSessionId=cs_1';
    expect((await service.client().get(path)).status).to.equal(302);
    expect(stripe.requests).to.deep.equal([]);
    expect((await subscriber.owner.get(path)).status).to.equal(302);
    expect(stripe.requests).to.have.length(1);
  });
});
