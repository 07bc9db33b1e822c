import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import Stripe from 'stripe';
import { type StripeServer, startStripeServer, subscriptionOf } from '../lab/stripe-stand-in/stripe-server.ts';
import type { TestUser } from '../support/api.ts';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';
import { billingOn } from './auth/support/service.ts';

const day = 86_400_000;

describe('Billing', () => {
  let stripe: StripeServer;
  let admin: TestUser;
  const limits = { PLANS: '{"free":{"workspaces":1,"members":2,"aiCredits":7}}' };
  const { api, tenant } = useApi({
    async env() {
      stripe = await startStripeServer();
      return { ...billingOn, STRIPE_API_BASE: stripe.url, WORKER_ENABLED: 'false', ...limits };
    },
    tenant: 'of each test',
  });
  before(async () => {
    admin = await api.signUp('Admin');
    await api.makePlatformAdmin(admin);
  });
  after(() => stripe.stop());
  beforeEach(() => {
    stripe.requests.length = 0;
    stripe.available = true;
    stripe.hold = undefined;
  });

  const free = { workspaces: 1, members: 2, aiCredits: 7, storageBytes: 100_000_000 };
  const pro = { workspaces: 20, members: 25, aiCredits: 2_000, storageBytes: 5_000_000_000 };
  const status = async ({ organizationId, owner } = tenant) =>
    (await callOver(api, 'REST', 'billing.status', { organizationId }, { token: owner.token })).body;
  async function subscribe(values: Record<string, unknown> = {}): Promise<string> {
    const id = randomUUID();
    const row = {
      id,
      plan: 'pro',
      referenceId: tenant.organizationId,
      status: 'active',
      stripeSubscriptionId: `sub_${id.slice(0, 8)}`,
      ...values,
    };
    await api.database.db
      .insertInto('subscription')
      .values(row as never)
      .execute();
    return id;
  }
  const removeSubscriptions = () => api.database.db.deleteFrom('subscription').where('referenceId', '=', tenant.organizationId).execute();

  describe('status', () => {
    it('is the free plan without a subscription', async () => {
      const expected = { enabled: true, plan: 'free', limits: free, subscription: null, paymentFailed: false, overLimit: [] };
      expect(await status()).to.deep.equal(expected);
    });

    it('shows the subscription and the limits of its plan', async () => {
      const [periodEnd, trialEnd, cancelAt] = [10, 5, 7].map((days) => new Date(Date.now() + days * day));
      const id = await subscribe({
        seats: 3,
        periodEnd,
        trialEnd,
        cancelAt,
        cancelAtPeriodEnd: true,
        billingInterval: 'month',
        status: 'trialing',
      });
      const { body } = await callOver(api, 'REST', 'billing.status', { organizationId: tenant.organizationId }, tenant.owner);
      expect(body).to.deep.equal({
        enabled: true,
        plan: 'pro',
        limits: pro,
        subscription: {
          id,
          plan: 'pro',
          status: 'trialing',
          seats: 3,
          periodEnd: periodEnd?.toISOString(),
          trialEnd: trialEnd?.toISOString(),
          cancelAtPeriodEnd: true,
          cancelAt: cancelAt?.toISOString(),
          billingInterval: 'month',
        },
        paymentFailed: false,
        overLimit: [],
      });
    });

    it('keeps the plan of one that is past due for the days of dunning, and says that a payment failed', async () => {
      await subscribe({ status: 'past_due', periodEnd: new Date(Date.now() - 13 * day) });
      expect(await status()).to.deep.include({ plan: 'pro', paymentFailed: true });
      await removeSubscriptions();
      await subscribe({ status: 'past_due', periodEnd: new Date(Date.now() - 15 * day) });
      expect(await status()).to.deep.include({ plan: 'free', limits: free, paymentFailed: true });
    });

    it('shows the subscription that counts among several, and the last one when none does', async () => {
      await subscribe({ plan: 'team', status: 'canceled', periodEnd: new Date() });
      expect(await status()).to.deep.include({ plan: 'free' });
      expect((await status()).subscription).to.include({ plan: 'team', status: 'canceled' });
      const id = await subscribe({ status: 'active', periodEnd: new Date(Date.now() - day) });
      expect((await status()).subscription).to.include({ id, status: 'active' });
      await removeSubscriptions();
      await subscribe({ plan: 'team', status: 'canceled', periodEnd: new Date() });
      await subscribe({ status: 'unpaid', periodEnd: new Date(Date.now() - day) });
      expect(await status()).to.deep.include({ plan: 'free', paymentFailed: true });
      expect((await status()).subscription).to.include({ plan: 'pro', status: 'unpaid' });
    });

    it('shows the subscription that the plan comes from, not one whose days of grace are over', async () => {
      const id = await subscribe({ status: 'active', periodEnd: new Date(Date.now() + day) });
      const pastDueSince = new Date(Date.now() - 15 * day);
      await subscribe({ plan: 'team', status: 'past_due', pastDueSince, periodEnd: new Date(Date.now() + 15 * day) });
      expect(await status()).to.deep.include({ plan: 'pro', paymentFailed: false });
      expect((await status()).subscription).to.include({ id, plan: 'pro', status: 'active' });
      const listed = await api.request('GET', `/api/v1/admin/organizations?search=${tenant.slug}`, { token: admin.token });
      expect(listed.body.items[0]).to.deep.include({ plan: 'pro' });
      expect(listed.body.items[0].subscription).to.include({ id, status: 'active' });
    });

    it('shows the one that is paid before a trial of the same plan', async () => {
      const id = await subscribe({ periodEnd: new Date(Date.now() + day) });
      await subscribe({ status: 'trialing', periodEnd: new Date(Date.now() + 15 * day) });
      expect((await status()).subscription).to.include({ id, status: 'active' });
    });

    it('shows the one that goes on before a better one that ends', async () => {
      await subscribe({ plan: 'team', cancelAtPeriodEnd: true, periodEnd: new Date(Date.now() + 15 * day) });
      const id = await subscribe({ status: 'trialing', periodEnd: new Date(Date.now() + day) });
      expect((await status()).subscription).to.include({ id, status: 'trialing' });
      expect(await status()).to.include({ plan: 'team' });
    });

    it('lists the limits that a downgrade has left exceeded', async () => {
      const { organizationId, owner } = tenant;
      const { token } = owner;
      await subscribe();
      for (const slug of ['two', 'three']) {
        expect((await callOver(api, 'REST', 'workspaces.create', { organizationId, name: slug, slug }, { token })).status).to.equal(200);
      }
      for (const role of ['member', 'admin'] as const) await api.addMember(organizationId, await api.signUp(), role);
      for (let i = 0; i < 2; i++) {
        const job = { kind: 'text.summarize', organizationId, text: 'One. Two.' };
        expect((await callOver(api, 'REST', 'jobs.create', job, { token })).status).to.equal(200);
      }
      expect((await status()).overLimit).to.deep.equal([]);
      await removeSubscriptions();
      expect((await status()).overLimit).to.deep.equal([
        { kind: 'workspaces', current: 3, limit: 1 },
        { kind: 'members', current: 3, limit: 2 },
        { kind: 'aiCredits', current: 10, limit: 7 },
      ]);
      const usage = await callOver(api, 'REST', 'organizations.usage', { organizationId }, { token });
      expect(usage.body).to.deep.include({
        plan: 'free',
        limits: free,
        usage: { workspaces: 3, members: 3, pendingInvitations: 0, aiCredits: 10 },
      });
    });

    it('counts invitations among the members, and what is just at the limit is not over it', async () => {
      const { organizationId, owner } = tenant;
      const invite = { organizationId, email: 'guest@example.com', role: 'member' };
      await api.request('POST', '/api/auth/organization/invite-member', { token: owner.token, body: invite });
      expect((await status()).overLimit).to.deep.equal([]);
      await subscribe();
      await api.request('POST', '/api/auth/organization/invite-member', {
        token: owner.token,
        body: { ...invite, email: 'other@example.com' },
      });
      await removeSubscriptions();
      expect((await status()).overLimit).to.deep.equal([{ kind: 'members', current: 3, limit: 2 }]);
    });
  });

  describe('in the list of a platform admin', () => {
    const item = async () => {
      const { body } = await callOver(api, 'REST', 'admin.organizations.list', { search: tenant.slug }, { token: admin.token });
      expect(body.total).to.equal(1);
      return body.items[0];
    };

    it('has plan, customer, billed seats and subscription', async () => {
      expect(await item()).to.deep.include({ plan: 'free', seats: { billed: null, members: 1 }, subscription: null });
      const periodEnd = new Date(Date.now() + day);
      const id = await subscribe({
        plan: 'team',
        seats: 4,
        periodEnd,
        cancelAt: periodEnd,
        cancelAtPeriodEnd: true,
        stripeSubscriptionId: 'sub_listed',
      });
      const set = { stripeCustomerId: 'cus_listed' };
      await api.database.db.updateTable('organization').set(set).where('id', '=', tenant.organizationId).execute();
      expect(await item()).to.deep.include({
        plan: 'team',
        billingCustomerId: 'cus_listed',
        seats: { billed: 4, members: 1 },
        subscription: {
          id,
          plan: 'team',
          status: 'active',
          seats: 4,
          periodEnd: periodEnd.toISOString(),
          cancelAtPeriodEnd: true,
          billingSubscriptionId: 'sub_listed',
        },
      });
      expect((await status()).subscription).to.include({ id, cancelAtPeriodEnd: true, cancelAt: periodEnd.toISOString() });
    });

    it('says whether it ends with its period as its organization is told, however it was canceled', async () => {
      const cancelAt = new Date(Date.now() + day);
      for (const [cancellation, expected] of [
        [{ cancelAt, cancelAtPeriodEnd: false }, false],
        [{ cancelAt: null, cancelAtPeriodEnd: true }, true],
        [{ cancelAt, cancelAtPeriodEnd: null }, false],
      ] as const) {
        await removeSubscriptions();
        await subscribe({ periodEnd: cancelAt, ...cancellation });
        const told = [(await item()).subscription, (await status()).subscription].map(({ cancelAtPeriodEnd }) => cancelAtPeriodEnd);
        expect(told, JSON.stringify(cancellation)).to.deep.equal([expected, expected]);
      }
    });

    it('bills no seats of a subscription that has ended', async () => {
      await subscribe({ status: 'canceled', seats: 4 });
      expect(await item()).to.deep.include({ plan: 'free', seats: { billed: null, members: 1 } });
    });
  });

  describe('cancellation by a platform admin', () => {
    const customer = () => `cus_${tenant.organizationId}`;
    const cancel = (body?: unknown, token = admin.token) =>
      api.request('POST', `/api/v1/admin/organizations/${tenant.organizationId}/cancel-subscription`, { token, body });
    const entries = () =>
      api.database.db
        .selectFrom('audit_entry')
        .selectAll()
        .where('organization_id', '=', tenant.organizationId)
        .where('action', 'like', 'subscription.%')
        .orderBy('id')
        .execute();
    const row = () =>
      api.database.db.selectFrom('subscription').selectAll().where('referenceId', '=', tenant.organizationId).executeTakeFirstOrThrow();
    let stripeId = '';
    beforeEach(() => {
      stripeId = `sub_${randomUUID().replaceAll('-', '')}`;
      stripe.subscriptions.set(stripeId, subscriptionOf(stripeId, { customer: customer(), price: 'price_pro', status: 'active' }));
    });

    it('happens at the end of the period unless told otherwise, and the row says what Stripe answered', async () => {
      const id = await subscribe({ stripeSubscriptionId: stripeId });
      const earlier = (await entries()).length;
      const canceled = await cancel();
      expect([canceled.status, canceled.body]).to.deep.equal([200, { status: 'active', cancelAtPeriodEnd: true }]);
      expect(stripe.requests).to.deep.equal([
        `GET /v1/subscriptions/${stripeId}`,
        `POST /v1/subscriptions/${stripeId} cancel_at_period_end=true`,
        `GET /v1/subscriptions/${stripeId}`,
      ]);
      expect(await row()).to.include({ status: 'active', cancelAtPeriodEnd: true });
      const written = (await entries()).slice(earlier);
      expect(written.map(({ action, metadata }) => [action, metadata])).to.deep.equal([
        ['subscription.cancel', { plan: 'pro', immediately: false }],
        ['subscription.update', { plan: 'pro', status: 'active', cancelAtPeriodEnd: true }],
      ]);
      for (const entry of written) expect(entry).to.deep.include({ actor_id: admin.id, target_type: 'subscription', target_id: id });
      expect(await status()).to.deep.include({ plan: 'pro' });
    });

    it('happens at once when asked', async () => {
      await subscribe({ stripeSubscriptionId: stripeId });
      const input = { organizationId: tenant.organizationId, immediately: true };
      const canceled = await callOver(api, 'REST', 'admin.organizations.cancelSubscription', input, admin);
      expect([canceled.status, canceled.body]).to.deep.equal([200, { status: 'canceled', cancelAtPeriodEnd: false }]);
      const asked = [`GET /v1/subscriptions/${stripeId}`, `DELETE /v1/subscriptions/${stripeId}`, `GET /v1/subscriptions/${stripeId}`];
      expect(stripe.requests).to.deep.equal(asked);
      expect((await row()).status).to.equal('canceled');
      expect(await status()).to.deep.include({ plan: 'free' });
      const again = await callOver(api, 'REST', 'admin.organizations.cancelSubscription', input, admin);
      expect(again.body).to.deep.equal({
        defined: true,
        code: 'NOT_FOUND',
        status: 404,
        message: 'This organization has no live subscription.',
      });
    });

    it('finds nothing to cancel without a live subscription, and without an organization', async () => {
      expect((await cancel()).body).to.include({ defined: true, code: 'NOT_FOUND' });
      await subscribe({ status: 'canceled', stripeSubscriptionId: stripeId });
      expect((await cancel()).body).to.include({ code: 'NOT_FOUND' });
      const nobody = await api.request('POST', '/api/v1/admin/organizations/nobody/cancel-subscription', { token: admin.token });
      expect(nobody.status).to.equal(404);
      expect(stripe.requests).to.deep.equal([]);
    });

    it('learns that a subscription had ended at Stripe before', async () => {
      await subscribe({ stripeSubscriptionId: stripeId });
      stripe.subscriptions.set(stripeId, subscriptionOf(stripeId, { customer: customer(), price: 'price_pro', status: 'canceled' }));
      expect((await cancel()).body).to.include({ code: 'NOT_FOUND' });
      expect((await row()).status).to.equal('canceled');
      expect((await entries()).map(({ action }) => action)).to.not.include('subscription.cancel');
    });

    it('changes nothing while Stripe does not answer', async () => {
      await subscribe({ stripeSubscriptionId: stripeId });
      stripe.available = false;
      const failed = await cancel();
      expect(failed.body).to.deep.equal({
        defined: true,
        code: 'SERVICE_UNAVAILABLE',
        status: 503,
        message: 'The payment provider did not cancel the subscription.',
      });
      expect(await row()).to.include({ status: 'active' });
      expect((await entries()).map(({ action }) => action)).to.not.include('subscription.cancel');
    });

    const notes = async () => {
      const { id } = await row();
      return await api.database.db.selectFrom('subscription_cancellation').selectAll().where('subscription_id', '=', id).execute();
    };
    const canceledBy = async () =>
      (await entries()).filter(({ action }) => action === 'subscription.cancel').map(({ actor_id }) => actor_id);
    const tellStripe = async (type: string) => {
      const object = stripe.subscriptions.get(stripeId) ?? {};
      const payload = JSON.stringify({ object: 'event', id: `evt_${randomUUID()}`, type, data: { object } });
      const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret: 'whsec_test' });
      const headers = { 'content-type': 'application/json', 'stripe-signature': signature };
      const sent = await fetch(`${api.url}/api/auth/stripe/webhook`, { method: 'POST', headers, body: payload });
      expect(sent.status).to.equal(200);
    };
    const atStripe = (pattern: RegExp, at: 'arrived' | 'done', happen: () => void) => {
      stripe.hold = (request, moment) => {
        if (moment === at && pattern.test(request)) happen();
        return undefined;
      };
    };

    it('takes a subscription out of its schedule first, for Stripe refuses to end one that is in a schedule', async () => {
      await subscribe({ stripeSubscriptionId: stripeId });
      stripe.state.answer('POST', '/v1/subscription_schedules', { from_subscription: stripeId });
      expect((await cancel()).body).to.deep.equal({ status: 'active', cancelAtPeriodEnd: true });
      expect(stripe.subscriptions.get(stripeId)).to.include({ schedule: null, cancel_at_period_end: true });
    });

    it('does not claim that nothing happened if Stripe did it and then went away: the audit log tells of it once Stripe does', async () => {
      await subscribe({ stripeSubscriptionId: stripeId });
      atStripe(/^POST \/v1\/subscriptions\//, 'done', () => {
        stripe.available = false;
      });
      const { code, message } = (await cancel()).body;
      expect([code, message]).to.deep.equal([
        'SERVICE_UNAVAILABLE',
        'The payment provider did not say whether it canceled the subscription. Try again later: canceling it twice is harmless.',
      ]);
      expect(await canceledBy()).to.deep.equal([]);
      stripe.available = true;
      await tellStripe('customer.subscription.updated');
      expect(await canceledBy()).to.deep.equal([admin.id]);
      expect(await notes()).to.deep.equal([]);
    });

    it('is known to be ours if the response was lost, and Stripe refuses the second try', async () => {
      await subscribe({ stripeSubscriptionId: stripeId });
      atStripe(/^DELETE /, 'arrived', () => stripe.state.end(stripeId));
      expect((await cancel({ immediately: true })).body).to.deep.equal({ status: 'canceled', cancelAtPeriodEnd: false });
      expect(await canceledBy()).to.deep.equal([admin.id]);
    });

    it('is forgotten if Stripe refuses it: what somebody else cancels later is not taken for it', async () => {
      await subscribe({ stripeSubscriptionId: stripeId });
      atStripe(/^POST \/v1\/subscriptions\//, 'arrived', () => {
        stripe.state.answer('POST', '/v1/subscription_schedules', { from_subscription: stripeId });
      });
      expect((await cancel()).body.message).to.equal('The payment provider did not cancel the subscription.');
      expect(await notes()).to.deep.equal([]);
      stripe.state.end(stripeId);
      await tellStripe('customer.subscription.deleted');
      expect((await row()).status).to.equal('canceled');
      expect(await canceledBy()).to.deep.equal([]);
    });

    it('is not entered because of an answer that Stripe gave before an earlier cancellation was taken back', async () => {
      await subscribe({ stripeSubscriptionId: stripeId });
      const [asked, stored] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      stripe.state.edit(stripeId, (subscription) => {
        subscription.cancel_at_period_end = true;
      });
      stripe.hold = (request, moment) => {
        if (moment !== 'done' || !request.startsWith('GET /v1/subscriptions/')) return undefined;
        stripe.hold = undefined;
        asked.resolve();
        return stored.promise;
      };
      const late = tellStripe('customer.subscription.updated');
      await asked.promise;
      stripe.state.edit(stripeId, (subscription) => {
        subscription.cancel_at_period_end = false;
      });
      await tellStripe('customer.subscription.updated');
      stripe.hold = (request, moment) => {
        if (moment !== 'arrived' || !request.startsWith('POST /v1/subscriptions/')) return undefined;
        stripe.state.answer('POST', '/v1/subscription_schedules', { from_subscription: stripeId });
        stored.resolve();
        return late;
      };
      expect((await cancel()).body.message).to.equal('The payment provider did not cancel the subscription.');
      expect(await row()).to.include({ cancelAtPeriodEnd: false });
      expect(await canceledBy()).to.deep.equal([]);
    });
  });
});
