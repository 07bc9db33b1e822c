import pino from 'pino';
import type { Environment } from '../../../../base/config/environment.ts';
import { createPayments, type Payments } from '../../../../domain/payments/payments.ts';
import { type StripeServer, startStripeServer } from '../../../lab/stripe-stand-in/stripe-server.ts';
import { lateValue } from '../../../support/late-value.ts';
import { type AuthService, billingOn, startAuthService } from './service.ts';
import { createSubscriber, type Subscriber } from './subscriber.ts';

interface UsedBilling {
  stripe: StripeServer;
  service: AuthService;
  /** What the service works with, for what no request does. It logs nothing. */
  payments: Payments;
  subscriber: Subscriber;
}

/**
 * Gives the tests of a `describe` a service of their own with billing, at a stand-in of Stripe, and each test a subscriber who is new, with
 * no problem and no request noted. What a test leaves at Stripe is forgotten.
 */
export function useBilling(env: Environment = {}): UsedBilling {
  const [stripe, setStripe] = lateValue<StripeServer>('stripe');
  const [service, setService] = lateValue<AuthService>('service');
  const [payments, setPayments] = lateValue<Payments>('payments');
  const [subscriber, setSubscriber] = lateValue<Subscriber>('subscriber');
  before('starts Stripe and sign-in', async () => {
    setStripe(await startStripeServer());
    setService(await startAuthService({ ...billingOn, ...env, STRIPE_API_BASE: stripe.url }));
    const made = createPayments({ ...service, log: pino({ level: 'silent' }) });
    if (!made) throw new Error('Billing is off');
    setPayments(made);
  });
  beforeEach('creates a subscriber', async () => {
    await service.db.deleteFrom('billing_problem').execute();
    setSubscriber(await createSubscriber(service, stripe));
    stripe.requests.length = 0;
  });
  afterEach('forgets what is at Stripe', async () => {
    await service.db.deleteFrom('organization').where('id', '=', subscriber.organizationId).execute();
    stripe.failing = undefined;
    stripe.state.customers.clear();
    stripe.subscriptions.clear();
  });
  after('stops sign-in and Stripe', async () => {
    await service.stop();
    await stripe.stop();
  });
  return { stripe, service, payments, subscriber };
}
