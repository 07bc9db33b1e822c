import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { sql } from 'kysely';
import { syncWebhookSwitch } from '../../domain/webhooks/sync-switch.ts';
import type { TestUser } from '../support/api.ts';
import { runOps } from '../support/ops.ts';
import { expectOk } from '../support/requests.ts';
import { useApi } from '../support/use-api.ts';
import { billingOn } from './auth/support/service.ts';

const plans = { PLANS: '{"free":{"members":2,"aiCredits":3,"workspaces":2},"pro":{"members":3,"aiCredits":30,"workspaces":5}}' };
const reason = 'A trial of the whole library.';

describe('A plan or limits by hand', () => {
  const env = { ...billingOn, STRIPE_API_BASE: 'http://127.0.0.1:9', WORKER_ENABLED: 'false', ...plans };
  const used = useApi({ env, tenant: 'of each test' });
  const { api } = used;
  let admin: TestUser;
  before(async () => {
    admin = await api.signUp('Admin');
    await api.makePlatformAdmin(admin);
  });

  const until = new Date(Date.now() + 86_400_000).toISOString();
  const path = () => `/api/v1/admin/organizations/${used.tenant.organizationId}/plan-override`;
  const give = (body: object, { token } = admin) => api.request('PUT', path(), { token, body: { until, reason, ...body } });
  const status = async () => {
    const { organizationId, owner } = used.tenant;
    return (await expectOk(api.request('GET', `/api/v1/organizations/${organizationId}/billing`, { token: owner.token }))).body;
  };
  const listed = async () => {
    const { items } = (await expectOk(api.request('GET', `/api/v1/admin/organizations?search=${used.tenant.slug}`, { token: admin.token })))
      .body;
    return items[0];
  };
  const subscribe = (plan: string) =>
    api.database.db
      .insertInto('subscription')
      .values({ id: randomUUID(), plan, referenceId: used.tenant.organizationId, status: 'active' } as never)
      .execute();
  const embed = () => {
    const { organizationId, owner } = used.tenant;
    return api.request('POST', '/api/v1/jobs', { token: owner.token, body: { kind: 'text.embed', organizationId, texts: ['a'] } });
  };
  const join = async () => api.addMember(used.tenant.organizationId, await api.signUp(), 'member').catch((error) => error.message);

  it('holds until its end and no longer, whatever the subscription does, and both are told of it', async () => {
    const given = (await expectOk(give({ limits: { aiCredits: 5, members: 4 } }))).body;
    expect(given).to.deep.equal({ plan: null, limits: { aiCredits: 5, members: 4 }, until, reason });
    expect(await status()).to.deep.include({ plan: 'free', byHand: given });
    expect((await status()).limits).to.include({ aiCredits: 5, members: 4, workspaces: 2 });
    expect((await listed()).byHand).to.deep.equal(given);
    for (let n = 0; n < 5; n++) expect((await embed()).status).to.equal(200);
    expect((await embed()).body.data).to.include({ kind: 'aiCredits', limit: 5, plan: 'free' });
    for (let n = 0; n < 3; n++) expect(await join()).to.equal(undefined);
    expect(await join()).to.equal('LIMIT_REACHED');

    await subscribe('pro');
    expect((await status()).limits).to.include({ aiCredits: 5, members: 4, workspaces: 5 });
    await sql`update plan_override set until = now() - interval '1 second'`.execute(api.database.db);
    expect(await status()).to.deep.include({ plan: 'pro' });
    expect(await status()).not.to.have.property('byHand');
    expect((await status()).limits).to.include({ aiCredits: 30, members: 3 });
    expect(await listed())
      .to.include({ plan: 'pro' })
      .and.not.to.have.property('byHand');
    expect(await join()).to.equal('LIMIT_REACHED');
    expect((await embed()).status).to.equal(200);
  });

  it('stands in place of a plan that is paid for, is ended by hand, and is audited', async () => {
    const { organizationId } = used.tenant;
    await subscribe('pro');
    await expectOk(give({ plan: 'free' }));
    expect([(await status()).plan, (await listed()).plan]).to.deep.equal(['free', 'free']);
    expect((await api.request('DELETE', path(), { token: admin.token })).body).to.deep.equal({ organizationId });
    expect((await api.request('DELETE', path(), { token: admin.token })).status).to.equal(404);
    expect([(await status()).plan, (await listed()).plan]).to.deep.equal(['pro', 'pro']);
    const log = `/api/v1/organizations/${organizationId}/audit-log?targetId=${organizationId}`;
    const { entries } = (await api.request('GET', log, { token: used.tenant.owner.token })).body;
    expect(entries.slice(0, 2).map(({ action, actorId }: any) => [action, actorId])).to.deep.equal([
      ['organization.endPlanOverride', admin.id],
      ['organization.overridePlan', admin.id],
    ]);
    expect(entries[1].metadata).to.deep.equal({ plan: 'free', until, reason });
  });

  it('tells webhooks of credits that are used up by its end', async () => {
    const { organizationId } = used.tenant;
    const { db } = api.database;
    await syncWebhookSwitch(db, true);
    const endpoint = { id: randomUUID(), organization_id: organizationId, url: 'https://hooks.example.com/', secret: 'whsec_c2VjcmV0' };
    await db
      .insertInto('webhook_endpoint')
      .values({ ...endpoint, events: ['credits.exhausted'], signature: 'v1' })
      .execute();
    const told = async () => {
      const rows = await db.selectFrom('webhook_delivery').select('data').where('endpoint_id', '=', endpoint.id).orderBy('id').execute();
      return rows.map(({ data }) => (data as { limit: number }).limit);
    };
    await expectOk(give({ limits: { aiCredits: 9 } }));
    for (let n = 0; n < 4; n++) expect((await embed()).status).to.equal(200);
    expect(await told()).to.deep.equal([]);
    await expectOk(api.request('DELETE', path(), { token: admin.token }));
    expect(await told()).to.deep.equal([3]);
  });

  it('may be more members than an integer of Postgres holds', async () => {
    await expectOk(give({ limits: { members: 3_000_000_000 } }));
    for (let n = 0; n < 3; n++) expect(await join()).to.equal(undefined);
  });

  it('needs a platform admin, something to give, and an end that is to come', async () => {
    expect((await give({ plan: 'team' }, used.tenant.owner)).status).to.equal(403);
    expect((await give({})).body).to.include({ code: 'BAD_REQUEST', message: 'plan: Give a plan, or limits.' });
    expect((await give({ plan: 'team', until: '2026-01-01T00:00:00.000Z' })).body.message).to.equal('until: must be in the future');
    expect(await status()).not.to.have.property('byHand');
  });

  it('is given and ended by an operator, too', async () => {
    const { DATABASE_URL, TEMPORAL_ADDRESS, DATA_DIR } = api.stack.env;
    const opsEnv = { DATABASE_URL, TEMPORAL_ADDRESS, DATA_DIR };
    const ops = async (...args: string[]) => (await runOps([...target, ...args], opsEnv)).code;
    const target = ['plan', '--organization', used.tenant.organizationId];
    expect(await ops('--plan', 'team', '--limits', '{"aiCredits":9}', '--until', until, '--reason', reason)).to.equal(0);
    expect(await status()).to.deep.include({ plan: 'team' });
    expect((await status()).limits).to.include({ aiCredits: 9 });
    expect(await ops('--end')).to.equal(0);
    expect(await status()).to.deep.include({ plan: 'free' });
  });

  it('tells an operator what is allowed', async () => {
    const { DATABASE_URL, TEMPORAL_ADDRESS, DATA_DIR } = api.stack.env;
    const given = ['plan', '--organization', used.tenant.organizationId, '--until', until, '--reason', reason];
    for (const [flag, value, allowed] of [
      ['--plan', 'gold', '--plan takes one of free, pro, team, not gold.'],
      ['--limits', '{"credits":1}', '{"aiCredits":5000}, of workspaces, members, aiCredits, storageBytes, each'],
      ['--limits', '{"members":-1}', 'each a whole number of at least 0, not {"members":-1}.'],
      ['--limits', '{members:1}', '--limits takes JSON'],
      ['--until', '2999-01-31T00:00', '--until takes a time such as 2026-11-21T08:00:00Z, not 2999-01-31T00:00.'],
    ] as const) {
      const { code, stderr } = await runOps([...given, flag, value], { DATABASE_URL, TEMPORAL_ADDRESS, DATA_DIR });
      expect(code).to.equal(2);
      expect(stderr).to.include(allowed);
    }
  });
});
