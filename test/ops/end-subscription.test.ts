import { expect } from 'chai';
import type { Environment } from '../../base/config/environment.ts';
import type { Tenant, TestUser } from '../support/api.ts';
import { runOps } from '../support/ops.ts';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';

describe('A subscription that is left from before billing was turned off', () => {
  const { api } = useApi();
  let admin: TestUser;
  let tenant: Tenant;

  before(async () => {
    [admin, tenant] = [await api.signUp('Admin'), await api.createTenant()];
    await api.makePlatformAdmin(admin);
  });
  const end = (args: string[], env: Environment = {}) => {
    const { DATABASE_URL, DATA_DIR } = api.stack.env;
    return runOps(['end-subscription', ...args], { DATABASE_URL, DATA_DIR, ...env });
  };
  const statuses = async ({ organizationId }: Tenant) => {
    const rows = await api.database.db
      .selectFrom('subscription')
      .selectAll()
      .where('referenceId', '=', organizationId)
      .orderBy('id')
      .execute();
    return rows.map(({ status, endedAt }) => [status, endedAt !== null]);
  };
  const remove = ({ organizationId, slug }: Tenant) =>
    callOver(api, 'REST', 'admin.organizations.delete', { organizationId, confirmSlug: slug }, admin);
  const cancel = ({ organizationId }: Tenant) => callOver(api, 'REST', 'admin.organizations.cancelSubscription', { organizationId }, admin);
  async function leave(id: string, values: { status: string; stripeSubscriptionId?: string }) {
    const row = { id, plan: 'pro', referenceId: tenant.organizationId, ...values };
    await api.database.db.insertInto('subscription').values(row).execute();
  }

  it('is named where it refuses a deletion, with the command that ends it', async () => {
    const billingIsOff = 'Billing is not configured on this deployment.';
    expect((await cancel(tenant)).body).to.include({ code: 'PRECONDITION_FAILED', message: billingIsOff });
    await leave('left', { status: 'active', stripeSubscriptionId: 'sub_left' });
    const command = `npm run ops -- end-subscription ${tenant.organizationId}`;
    const refused = (await remove(tenant)).body;
    expect(refused).to.include({ code: 'PRECONDITION_FAILED', status: 412, defined: true });
    expect(refused.message).to.include(command);
    for (const one of [tenant, { ...tenant, organizationId: 'absent' }]) expect((await cancel(one)).body.message).to.equal(billingIsOff);
  });

  it('is not ended by the command while billing is configured, here or for the API', async () => {
    const configured = { STRIPE_SECRET_KEY: 'sk_test_123', STRIPE_WEBHOOK_SECRET: 'whsec_test' };
    const here = await end([tenant.organizationId], configured);
    expect([here.code, here.stdout]).to.deep.equal([1, '']);
    expect(here.stderr).to.match(/^Billing is configured: .*cancel-subscription\.\n$/);
    const { db } = api.database;
    await db.insertInto('plan_limit').values({ plan: 'free', members: 5, dunning_days: 14 }).execute();
    const there = await end([tenant.organizationId]);
    expect([there.code, there.stdout]).to.deep.equal([1, '']);
    expect(there.stderr).to.match(/^Billing is configured: .* restart the API first\.\n$/);
    await db.deleteFrom('plan_limit').execute();
    expect(await statuses(tenant)).to.deep.equal([['active', false]]);
  });

  it('is ended by the command, which says what it did and is audited; then the organization can be deleted', async () => {
    await leave('older', { status: 'canceled' });
    await leave('other', { status: 'past_due' });
    const { organizationId } = tenant;
    expect(await end([organizationId])).to.deep.equal({
      code: 0,
      stdout: `Ended the subscription left (pro, active) of the organization ${organizationId}.
The payment provider was not asked: if sub_left is live there, cancel it there, too.
Ended the subscription other (pro, past_due) of the organization ${organizationId}.
`,
      stderr: '',
    });
    expect(await statuses(tenant)).to.deep.equal([
      ['canceled', true],
      ['canceled', false],
      ['canceled', true],
    ]);
    const { body } = await callOver(api, 'REST', 'organizations.auditLog', { organizationId }, tenant.owner);
    const entries = body.entries.filter(({ action }: { action: string }) => action === 'subscription.end');
    expect(entries).to.have.length(2);
    expect(entries[1]).to.deep.include({
      ...{ organizationId, actorId: null, targetType: 'subscription', targetId: 'left' },
      metadata: { plan: 'pro', status: 'active', by: 'operator' },
    });
    const again = await end([tenant.slug]);
    expect(again).to.deep.equal({ code: 1, stdout: '', stderr: `The organization ${organizationId} has no live subscription.\n` });
    expect((await remove(tenant)).status).to.equal(200);
    const gone = await end([organizationId]);
    expect(gone).to.deep.equal({ code: 1, stdout: '', stderr: `There is no organization ${organizationId}.\n` });
  });

  it('is explained when the command is called wrongly', async () => {
    for (const args of [[], ['a', 'b'], ['--all']]) {
      const { code, stderr } = await end(args);
      expect(code, args.join(' ')).to.equal(2);
      expect(stderr).to.include('Usage: npm run ops -- end-subscription ID|SLUG');
    }
  });
});
