import { expect } from 'chai';
import { sql } from 'kysely';
import { inTransaction } from '../../../db/transaction.ts';
import { systemActor } from '../../../domain/audit.ts';
import { endPlanOverride } from '../../../domain/billing/override-plan.ts';
import { listProblems } from '../../../domain/billing/problems.ts';
import { thisMonth } from '../../../domain/credits/budgets.ts';
import { newId } from '../../../domain/ids.ts';
import { reconcile } from '../../../domain/payments/reconcile.ts';
import { syncWebhookSwitch } from '../../../domain/webhooks/sync-switch.ts';
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

  it('takes the subscription of a customer that was made since a restored backup for that of its organization', async () => {
    const { id } = stripe.state.subscribe({ customer: subscriber.customer, prices: [['price_pro', 1]] });
    await service.db.updateTable('organization').set({ stripeCustomerId: null }).where('id', '=', subscriber.organizationId).execute();
    for (const repair of [false, true]) {
      expect((await reconcile(payments, { repair })).different).to.deep.equal([id]);
      expect((await listProblems(service.db, 10)).map(({ subject }) => subject)).to.not.include(id);
    }
    expect(await statusesOf(subscriber)).to.deep.equal(['active']);
  });

  it('ends early if Stripe fails for many', async () => {
    const ids = Array.from({ length: 8 }, () => stripe.state.subscribe({ customer: subscriber.customer, prices: [['price_pro', 1]] }).id);
    failFor(ids);
    const failure = await reconcile(payments, { repair: true }).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Error).with.property('message', 'down');
    const asked = new Set(stripe.requests.filter((request) => request.startsWith('GET /v1/subscriptions/')));
    expect(asked.size).to.equal(5);
  });

  it('tells webhooks once of credits that are used up since a plan by hand is over', async () => {
    const { db, config } = service;
    const { organizationId } = subscriber;
    const used = config.plans.free.aiCredits + 1;
    await syncWebhookSwitch(db, true);
    const endpoint = { id: newId(), organization_id: organizationId, url: 'https://hooks.example.com/', secret: 'whsec_c2VjcmV0' };
    await db
      .insertInto('webhook_endpoint')
      .values({ ...endpoint, events: ['credits.exhausted'], signature: 'v1' })
      .execute();
    await sql`insert into credit_month (organization_id, month, used) values (${organizationId}, ${thisMonth}, ${used})`.execute(db);
    const until = new Date(Date.now() + 60_000);
    const override = { organization_id: organizationId, plan: 'pro' as const, limits: '{}', until, reason: 'A trial.' };
    await db.insertInto('plan_override').values(override).execute();
    const told = async () => {
      await reconcile(payments, { repair: true });
      return (await db.selectFrom('webhook_delivery').select('event').where('endpoint_id', '=', endpoint.id).execute()).length;
    };
    expect(await told()).to.equal(0);
    // As `npm run ops -- plan --end` does, which knows no prices of plans.
    await inTransaction(db, (trx) => endPlanOverride(trx, systemActor, organizationId));
    expect(await told()).to.equal(1);
    expect(await told()).to.equal(1);
  });
});
