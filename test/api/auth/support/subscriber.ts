import Stripe from 'stripe';
import type { StripeEvent, StripeServer } from '../../../lab/stripe-stand-in/stripe-server.ts';
import type { Answer, Client } from './client.ts';
import type { AuthService } from './service.ts';

/** An organization that is a customer at the stand-in of Stripe. */
export interface Subscriber {
  owner: Client;
  email: string;
  organizationId: string;
  customer: string;
  /** Makes somebody new a member. */
  bring(role: string): Promise<{ client: Client; email: string; memberId: string }>;
  /** The rows of its subscriptions, the oldest first. */
  rows(): Promise<SubscriptionRow[]>;
  /** What its audit log says of subscriptions, in order: action, status, and whether it ends with its period. */
  entries(): Promise<string[]>;
}

export async function createSubscriber(service: AuthService, stripe: StripeServer): Promise<Subscriber> {
  const owner = service.client();
  const { email } = await owner.enter();
  const organizationId = await owner.createOrganization();
  const customer = `cus_of_${organizationId}`;
  stripe.state.addCustomer(customer, organizationId);
  await service.db.updateTable('organization').set({ stripeCustomerId: customer }).where('id', '=', organizationId).execute();
  return {
    ...{ owner, email, organizationId, customer },
    async bring(role) {
      const client = service.client();
      const user = await client.enter();
      const { body } = await owner.bring({ client, email: user.email }, { organizationId, role });
      return { client, email: user.email, memberId: body.member.id };
    },
    rows: () => subscriptionsOf(service, organizationId),
    entries: () => entriesOf(service, organizationId),
  };
}

type SubscriptionRow = Awaited<ReturnType<typeof subscriptionsOf>>[number];

function subscriptionsOf({ db }: AuthService, organizationId: string) {
  return db.selectFrom('subscription').selectAll().where('referenceId', '=', organizationId).orderBy('periodStart').execute();
}

async function entriesOf({ db }: AuthService, organizationId: string): Promise<string[]> {
  const entries = await db
    .selectFrom('audit_entry')
    .select(['action', 'metadata'])
    .where('organization_id', '=', organizationId)
    .where('action', 'like', 'subscription.%')
    .orderBy('id')
    .execute();
  return entries.map(({ action, metadata }) => {
    const { plan, status, cancelAtPeriodEnd } = metadata ?? {};
    return [action, plan, status, ...(cancelAtPeriodEnd ? ['ending'] : [])].join(' ');
  });
}

/** Sends an event to the webhook, signed as Stripe signs. */
export function sendEvent(service: AuthService, event: StripeEvent, secret = 'whsec_test'): Promise<Answer> {
  const payload = JSON.stringify({ object: 'event', ...event });
  const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret });
  return service.client().post('/stripe/webhook', JSON.parse(payload), { 'stripe-signature': signature });
}
