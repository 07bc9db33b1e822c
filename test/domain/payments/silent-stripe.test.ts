import { expect } from 'chai';
import Stripe from 'stripe';
import { ensureCustomer } from '../../../domain/payments/customers.ts';
import type { Payments } from '../../../domain/payments/payments.ts';

describe('The customer of an organization, while Stripe does not respond', () => {
  it('is not asked for by a second request after the first was waited for in vain', async () => {
    const silence = new Stripe.errors.StripeConnectionError({ message: 'no response', type: 'api_error' });
    const asked: string[] = [];
    const ask = (what: string) => () => {
      asked.push(what);
      return Promise.reject(silence);
    };
    const customers = { search: ask('search'), create: ask('create'), retrieve: ask('retrieve') };
    const payments = { stripe: { customers }, log: { warn: () => undefined } } as unknown as Payments;
    const failure = await ensureCustomer(payments, { id: 'organization', name: 'Acme', stripeCustomerId: null }).catch(
      (error: unknown) => error,
    );
    expect(failure).to.equal(silence);
    expect(asked).to.deep.equal(['search']);
  });
});
