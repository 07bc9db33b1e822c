import type { Environment } from '../../../config/environment.ts';
import { type StripeServer, startStripeServer } from '../../../tools/stripe/stripe-server.ts';
import { lateValue } from '../../support/late-value.ts';
import { type AuthService, billingOn, startAuthService } from './service.ts';
import { createSubscriber, type Subscriber } from './subscriber.ts';

/**
 * Gives the tests of a `describe` a service of their own with billing, at a stand-in of Stripe, and each test a subscriber who is new, with
 * no problem and no request noted.
 */
export function useBilling(env: Environment = {}): { stripe: StripeServer; service: AuthService; subscriber: Subscriber } {
  const [stripe, setStripe] = lateValue<StripeServer>('stripe');
  const [service, setService] = lateValue<AuthService>('service');
  const [subscriber, setSubscriber] = lateValue<Subscriber>('subscriber');
  before('starts Stripe and sign-in', async () => {
    setStripe(await startStripeServer());
    setService(await startAuthService({ ...billingOn, ...env, STRIPE_API_BASE: stripe.url }));
  });
  beforeEach('creates a subscriber', async () => {
    await service.db.deleteFrom('billing_problem').execute();
    setSubscriber(await createSubscriber(service, stripe));
    stripe.requests.length = 0;
  });
  after('stops sign-in and Stripe', async () => {
    await service.stop();
    await stripe.stop();
  });
  return { stripe, service, subscriber };
}
