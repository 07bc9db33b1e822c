import { expect } from 'chai';
import { billingOn } from '../api/auth/support/service.ts';
import { type StripeServer, startStripeServer } from '../lab/stripe-stand-in/stripe-server.ts';
import type { TestUser } from '../support/api.ts';
import { until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

describe('Stripe, after a change of an organization', () => {
  let stripe: StripeServer;
  const { api, tenant } = useApi({
    async env() {
      stripe = await startStripeServer();
      return { ...billingOn, STRIPE_SEAT_PRICE_TEAM: 'price_seat', STRIPE_API_BASE: stripe.url };
    },
    tenant: 'of each test',
  });
  after(() => stripe.stop());

  describe('of its members (syncSeats)', () => {
    let id: string;

    beforeEach(async () => {
      stripe.available = true;
      id = await subscribe([
        ['price_team', 1],
        ['price_seat', 1],
      ]);
      stripe.requests.length = 0;
    });

    /** A subscription of the tenant at Stripe, which the service has heard of. */
    async function subscribe(prices: [string, number][]): Promise<string> {
      const { organizationId, owner } = tenant;
      const customer = `cus_of_${organizationId}`;
      stripe.state.addCustomer(customer, organizationId);
      const { db } = api.database;
      await db.updateTable('organization').set({ stripeCustomerId: customer }).where('id', '=', organizationId).execute();
      const subscription = stripe.state.subscribe({ customer, prices });
      await success(owner, subscription.id);
      return subscription.id;
    }

    /** Comes back from a checkout, which makes the service ask about its subscription. */
    async function success({ token }: TestUser, subscription: string): Promise<void> {
      const session = { id: `cs_${subscription}`, object: 'checkout.session', subscription };
      stripe.state.sessions.set(session.id, session);
      const path = `/api/auth/subscription/success?callbackURL=/ok&checkoutSessionId=${session.id}`;
      await fetch(`${api.url}${path}`, { headers: { authorization: `Bearer ${token}` }, redirect: 'manual' });
    }

    const post = async (user: TestUser, path: string, body: object) => {
      const answer = await api.request('POST', `/api/auth${path}`, {
        token: user.token,
        body: { organizationId: tenant.organizationId, ...body },
      });
      expect(answer.status, `${path} ${JSON.stringify(answer.body)}`).to.equal(200);
      return answer.body;
    };
    async function join(role = 'member') {
      const user = await api.signUp();
      const { id: invitationId } = await post(tenant.owner, '/organization/invite-member', { email: user.email, role });
      const { member } = await post(user, '/organization/accept-invitation', { invitationId });
      return { ...user, memberId: member.id as string };
    }
    const billed = () => {
      const items: { price: { id: string }; quantity: number }[] = stripe.subscriptions.get(id)?.items.data;
      return Object.fromEntries(items.map(({ price, quantity }) => [price.id, quantity]));
    };
    const row = () =>
      api.database.db.selectFrom('subscription').selectAll().where('stripeSubscriptionId', '=', id).executeTakeFirstOrThrow();
    const seatsAre = (seats: number) => until(async () => billed().price_seat === seats && (await row()).seats === seats);
    const updates = () => stripe.requests.filter((request) => request.startsWith(`POST /v1/subscriptions/${id}`));

    it('follows members who join, who leave, and whom an admin removes', async () => {
      const [leaver, admin] = [await join(), await join('admin')];
      const removed = await join();
      await seatsAre(4);
      await post(leaver, '/organization/leave', {});
      await seatsAre(3);
      await post(admin, '/organization/remove-member', { memberIdOrEmail: removed.memberId });
      await seatsAre(2);
      await api.makePlatformAdmin(tenant.owner);
      await post(tenant.owner, '/admin/remove-user', { userId: admin.id });
      await seatsAre(1);
    });

    it('makes one change of many that come together', async () => {
      const users = await Promise.all(Array.from({ length: 6 }, () => api.signUp()));
      const insert = (user: TestUser) => api.addMember(tenant.organizationId, user, 'member');
      await Promise.all(users.map(insert));
      await seatsAre(7);
      expect(updates()).to.have.length(1);
      expect(updates()[0]).to.include('[quantity]=7').and.include('proration_behavior=create_prorations');
    });

    it('bills a member who joins while Stripe makes the change for another, too', async () => {
      const second = await api.signUp();
      const waiting = () => api.database.db.selectFrom('outbox').select('id').execute();
      let isHeld = false;
      stripe.hold = (request, moment) => {
        if (isHeld || moment !== 'done' || !request.startsWith(`POST /v1/subscriptions/${id}`)) return undefined;
        isHeld = true;
        return api.addMember(tenant.organizationId, second, 'member').then(() => until(async () => (await waiting()).length === 0));
      };
      await join();
      await seatsAre(3);
      expect(isHeld).to.equal(true);
      stripe.hold = undefined;
    });

    it('goes on once Stripe answers again', async () => {
      stripe.available = false;
      await join();
      await until(() => stripe.requests.length > 0);
      expect(billed()).to.deep.equal({ price_team: 1, price_seat: 1 });
      stripe.available = true;
      await seatsAre(2);
    });

    it('adds the seats that a change from pro to team in the portal leaves out, and takes them away after one from team to pro', async () => {
      await join();
      await seatsAre(2);
      stripe.state.edit(id, ({ items }) => {
        items.data = [{ ...items.data[0], price: { ...items.data[0].price, id: 'price_pro' } }, items.data[1]];
      });
      await success(tenant.owner, id);
      await until(async () => billed().price_seat === undefined);
      await until(async () => (await row()).plan === 'pro');
      stripe.state.edit(id, ({ items }) => {
        items.data[0].price.id = 'price_team';
      });
      await success(tenant.owner, id);
      await seatsAre(2);
      expect(billed()).to.deep.equal({ price_team: 1, price_seat: 2 });
    });

    it('changes from pro to team with the seats at once', async () => {
      await join();
      await seatsAre(2);
      const upgrade = (plan: string) => post(tenant.owner, '/subscription/upgrade', { plan, referenceId: tenant.organizationId });
      await upgrade('pro');
      expect([billed(), (await row()).plan]).to.deep.equal([{ price_pro: 1 }, 'pro']);
      await upgrade('team');
      expect([billed(), (await row()).plan, (await row()).seats]).to.deep.equal([{ price_team: 1, price_seat: 2 }, 'team', 2]);
    });
  });

  describe('of its name (syncCustomer)', () => {
    beforeEach(async () => {
      stripe.available = true;
      const answer = await auth('/subscription/upgrade', { plan: 'pro', referenceId: tenant.organizationId });
      expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      await until(() => customer()?.name === tenant.slug);
      stripe.requests.length = 0;
    });

    const auth = (path: string, body: object) => api.request('POST', `/api/auth${path}`, { token: tenant.owner.token, body });
    const rename = (name: string) => auth('/organization/update', { organizationId: tenant.organizationId, data: { name } });
    const customer = () => [...stripe.state.customers.values()].find(({ metadata }) => metadata.organizationId === tenant.organizationId);
    const updates = () => stripe.requests.filter((request) => request.startsWith('POST /v1/customers/'));

    it('makes one change of names that follow each other closely, and of the same name none', async () => {
      // Written as the API writes them, but closer to each other than requests of a busy machine are.
      const organization = api.database.db.updateTable('organization').where('id', '=', tenant.organizationId);
      for (const name of ['One', 'Two', 'Three']) await organization.set({ name }).execute();
      await until(() => customer()?.name === 'Three');
      expect(updates()).to.have.length(1);
      await rename('Three');
      await rename('Four');
      await until(() => customer()?.name === 'Four');
      expect(updates()).to.have.length(2);
    });

    it('leaves a customer alone that was deleted at Stripe', async () => {
      const id = customer()?.id;
      stripe.state.deleteCustomer(id);
      await rename('Gone');
      const handle = api.temporal.client.workflow.getHandle(`customer-${tenant.organizationId}`);
      await until(() => stripe.requests.some((request) => request === `GET /v1/customers/${id}`));
      expect(await handle.result()).to.deep.equal({ renamed: false });
      expect(updates()).to.deep.equal([]);
    });
  });
});
