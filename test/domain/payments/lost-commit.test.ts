import { expect } from 'chai';
import pino from 'pino';
import { loadServerConfig } from '../../../base/config/server.ts';
import { createDb, createPool } from '../../../db/connect.ts';
import { ensureCustomer } from '../../../domain/payments/customers.ts';
import { createPayments, type Payments } from '../../../domain/payments/payments.ts';
import { billingOn } from '../../api/auth/support/service.ts';
import { type StripeServer, startStripeServer } from '../../lab/stripe-stand-in/stripe-server.ts';
import { type CommitProxy, startCommitProxy } from '../../support/commit-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

describe('A commit that succeeds, and whose answer is lost', () => {
  let database: TestDatabase;
  let proxy: CommitProxy;
  let stripe: StripeServer;
  let payments: Payments;
  before(async () => {
    stripe = await startStripeServer();
    database = await createTestDatabase();
    proxy = await startCommitProxy(database.url);
    const variables = { ...billingOn, STRIPE_API_BASE: stripe.url, DATABASE_URL: proxy.url, AUTH_SECRET: 'a-secret-of-this-test-alone' };
    const db = createDb(createPool({ url: proxy.url, poolSize: 2, onError: () => undefined }));
    const made = createPayments({ config: loadServerConfig(variables), db, log: pino({ level: 'silent' }) });
    if (!made) throw new Error('Billing is off');
    payments = made;
  });
  after(async () => {
    await payments.db.destroy();
    await proxy.stop();
    await database.drop();
    await stripe.stop();
  });

  it('leaves the customer at Stripe that the organization now has, for the next request to use', async () => {
    const organization = { id: 'org', name: 'Org', slug: 'org', stripeCustomerId: null };
    await database.db.insertInto('organization').values(organization).execute();
    let cuts = 0;
    stripe.hold = (request, moment) => {
      const [id] = stripe.state.customers.keys();
      if (request.startsWith('POST /v1/customers ') && moment === 'done') {
        proxy.holdCommitOf(id ?? '', (cut) => {
          cuts++;
          cut();
        });
      }
      return undefined;
    };
    const failure = await ensureCustomer(payments, organization).catch((error: unknown) => error);
    stripe.hold = undefined;
    expect([failure instanceof Error, cuts]).to.deep.equal([true, 1]);
    const stored = await database.db.selectFrom('organization').select('stripeCustomerId').executeTakeFirstOrThrow();
    expect([...stripe.state.customers.values()].map(({ id, deleted }) => [id, deleted])).to.deep.equal([
      [stored.stripeCustomerId, undefined],
    ]);
    expect(await ensureCustomer(payments, organization)).to.equal(stored.stripeCustomerId);
    expect(stripe.state.customers.size).to.equal(1);
  });
});
