import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { BillingStep } from '../../docs/examples/demo/billing.ts';
import { findFreePorts } from '../../ops/local/ports.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { findProcesses, until } from '../support/processes.ts';
import { runDemo } from './support/run-demo.ts';

describe('npm run demo -- --billing', () => {
  let dataDir: string;
  let run: Awaited<ReturnType<typeof runDemo>>;
  let steps: BillingStep[];

  before(async () => {
    dataDir = makeTestDirectory();
    const fileOf = (name: string, secret: string) => {
      writeFileSync(join(dataDir, name), secret);
      return join(dataDir, name);
    };
    const metricsPort = String((await findFreePorts(1))[0]);
    // What the environment says of a real deployment is not used.
    const env = {
      ...{ DATA_DIR: dataDir, STRIPE_SECRET_KEY: 'sk_live_of_somebody', STRIPE_API_BASE: 'http://127.0.0.1:9' },
      ...{ DATABASE_URL: 'postgres://127.0.0.1:9/x', DATABASE_DIRECT_URL: 'postgres://127.0.0.1:9/x', STORAGE_BUCKET: 'of-somebody' },
      ...{
        TEMPORAL_ADDRESS: '127.0.0.1:9',
        TEMPORAL_API_KEY: 'a key of the cloud',
        SMTP_URL: 'smtp://127.0.0.1:9',
        WORKER_ENABLED: 'false',
      },
      ...{ DATABASE_URL_FILE: fileOf('database', 'postgres://127.0.0.1:9/x'), SMTP_URL_FILE: fileOf('mail', 'smtp://127.0.0.1:9') },
      STRIPE_SECRET_KEY_FILE: fileOf('stripe', 'sk_live_of_somebody'),
      METRICS_PORT: metricsPort,
    };
    run = await runDemo(['--billing', '--json'], env);
    expect(run.code, run.stderr).to.equal(0);
    ({ steps } = JSON.parse(run.stdout));
  }).timeout(240_000);
  after(() => removeTestDirectory(dataDir));

  it('uses up the free plan, buys pro, uses it up, upgrades to team, and goes on', () => {
    expect(steps.map(({ here }) => here)).to.deep.equal([
      { plan: 'free', creditsUsed: 5, creditsLimit: 5 },
      { plan: 'pro', creditsUsed: 5, creditsLimit: 15 },
      { plan: 'pro', creditsUsed: 15, creditsLimit: 15 },
      { plan: 'team', creditsUsed: 15, creditsLimit: 20_000 },
      { plan: 'team', creditsUsed: 20, creditsLimit: 20_000 },
    ]);
    const refusals = steps.map(({ client }) => client.filter((line) => line.includes('403 LIMIT_REACHED, aiCredits')).length);
    expect(refusals).to.deep.equal([1, 0, 1, 0, 0]);
  });

  it('says what happens at Stripe, and what its webhook tells', () => {
    const charges = steps.map(({ stripe }) => stripe.filter((line) => line.includes('charged')));
    expect(charges).to.deep.equal([
      [],
      ['the customer is charged for price_pro × 1'],
      [],
      ['the customer is charged for price_seat × 1, price_team × 1'],
      [],
    ]);
    expect(steps.map(({ events }) => events)).to.deep.equal([
      [],
      ['customer.subscription.created 200', 'checkout.session.completed 200'],
      [],
      ['customer.subscription.updated 200'],
      [],
    ]);
  });

  it('prints it in lines of at most 80 columns', () => {
    const told = run.stderr.slice(run.stderr.indexOf('The free plan'));
    for (const { title, client, stripe } of steps) for (const line of [title, ...client, ...stripe]) expect(told).to.include(line);
    expect(told.split('\n').filter((line) => line.length > 80)).to.deep.equal([]);
  });

  it('leaves no process behind', async () => {
    await until(() => findProcesses(dataDir).length === 0);
  });

  it('takes no files', async () => {
    const { code, stderr } = await runDemo(['--billing', 'README.md'], { DATA_DIR: dataDir });
    expect(code).to.equal(2);
    expect(stderr).to.include('--billing takes no files');
  });
});
