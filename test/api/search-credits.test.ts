import { expect } from 'chai';
import { checkLedger } from '../../domain/credits/check-ledger.ts';
import { openCharge, refundLostCharges } from '../../domain/credits/open-charge.ts';
import { createKey, losingAccess } from '../support/api-keys.ts';
import { aiError, goodAnswer } from '../support/fake-ai.ts';
import { until } from '../support/processes.ts';
import { expectOk } from '../support/requests.ts';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';
import { billingOn } from './auth/support/service.ts';

const failing = () => aiError(500, 'internal');

describe('The credit of a search by a remote model', () => {
  const billing = { ...billingOn, PLANS: '{"free":{"aiCredits":2}}' };
  const env = { WORKER_ENABLED: 'false', SEARCH_LIMIT_PER_MINUTE: '1000', ...billing };
  const { api, ai, tenant } = useApi({ ai: true, env, tenant: 'of each test' });
  before(() => {
    ai.provider = 'remote';
  });
  beforeEach(() => {
    ai.behave('embed');
    ai.calls.length = 0;
  });
  afterEach(async () => {
    expect(await checkLedger(api.database.db)).to.deep.equal([]);
  });

  const search = (token = tenant.owner.token) =>
    callOver(api, 'REST', 'documents.search', { workspaceId: tenant.workspaceId, query: 'mirrors' }, { token });
  const usedCredits = async (): Promise<number> =>
    (await api.request('GET', `/api/v1/organizations/${tenant.organizationId}/usage`, { token: tenant.owner.token })).body.usage.aiCredits;
  const amounts = async () => {
    const { db } = api.database;
    const rows = await db
      .selectFrom('credit_entry')
      .selectAll()
      .where('organization_id', '=', tenant.organizationId)
      .orderBy('id')
      .execute();
    return rows.map(({ key, amount, reason }) => [key.replace(/:.*:/, ':'), amount, reason]);
  };
  const open = () => api.database.db.selectFrom('open_search').select('id').where('organization_id', '=', tenant.organizationId).execute();

  it('is charged once when it succeeds', async () => {
    expect((await search()).status).to.equal(200);
    expect(await amounts()).to.deep.equal([['search:charge', 1, 'documents.search']]);
    expect([await usedCredits(), await open()]).to.deep.equal([1, []]);
  });

  it('is shown in the history of usage for its workspace, and for the key that searched', async () => {
    const { organizationId, workspaceId, owner } = tenant;
    const key = await createKey(api, tenant);
    expect((await search(key.token)).status).to.equal(200);
    for (const [by, group] of Object.entries({ workspace: workspaceId, key: key.id })) {
      const { body } = await callOver(api, 'REST', 'organizations.usageHistory', { organizationId, by }, { token: owner.token });
      expect(body.items.map(({ day, ...item }: { day: string }) => item)).to.deep.equal([{ group, charged: 1, refunded: 0 }]);
    }
  });

  it('is bound by the budgets of the key that searches and of the workspace', async () => {
    const key = await createKey(api, tenant);
    const ask = (operation: string, input: object) => callOver(api, 'REST', operation, { ...input }, { token: tenant.owner.token });
    await expectOk(ask('apiKeys.update', { id: key.id, creditBudget: 0 }));
    expect((await search(key.token)).body.data).to.include({ kind: 'aiCredits', scope: 'key', limit: 0 });
    await expectOk(ask('workspaces.update', { id: tenant.workspaceId, creditBudget: 0 }));
    expect((await search()).body.data).to.include({ kind: 'aiCredits', scope: 'workspace', limit: 0 });
    expect(await amounts()).to.deep.equal([]);
  });

  it('is given back when the search fails', async () => {
    ai.behave('embed', failing);
    expect((await search()).body).to.include({ code: 'SERVICE_UNAVAILABLE' });
    expect([await usedCredits(), await open()]).to.deep.equal([0, []]);
    expect(await amounts()).to.deep.equal([
      ['search:charge', 1, 'documents.search'],
      ['search:refund', -1, 'failed'],
    ]);
  });

  it('is given back when the client leaves before it is answered', async () => {
    ai.behave('embed', () => undefined);
    const abort = new AbortController();
    const { token } = tenant.owner;
    const path = `/api/v1/workspaces/${tenant.workspaceId}/documents/search`;
    const leaving = api.request('POST', path, { token, body: { query: 'mirrors' }, signal: abort.signal }).catch(() => undefined);
    await until(() => ai.calls.length === 1);
    expect(await usedCredits()).to.equal(1);
    abort.abort();
    await leaving;
    // The embedding itself is given up after ten seconds.
    await until(async () => (await usedCredits()) === 0, 8_000);
  });

  it('is given back, and nothing is found, if the key is revoked or the member removed while the query is embedded', async () => {
    for (const { token, code, end } of await losingAccess(api, tenant)) {
      ai.behave('embed', async (call) => {
        await end();
        return goodAnswer(call);
      });
      expect((await search(token)).body.code).to.equal(code);
    }
    expect([await usedCredits(), await open()]).to.deep.equal([0, []]);
  });

  it('is checked before the model is asked: without it the answer is LIMIT_REACHED, also while the AI service is down', async () => {
    for (let i = 0; i < 2; i++) expect((await search()).status).to.equal(200);
    for (const behaviour of [undefined, failing, () => ({ body: {}, cut: true })]) {
      ai.behave('embed', behaviour);
      const refused = await search();
      expect(refused.body).to.deep.include({
        code: 'LIMIT_REACHED',
        data: { kind: 'aiCredits', limit: 2, plan: 'free', scope: 'organization' },
      });
    }
    expect(ai.calls).to.have.length(2);
    expect(await usedCredits()).to.equal(2);
  });

  for (const [purpose, credits] of [
    ['search', 1],
    ['answer', 3],
  ] as const)
    it(`is given back by the sweep when the process died between the charge and the end of the ${purpose}`, async () => {
      const { db } = api.database;
      const charge = () => openCharge(db, async () => null, purpose, { organizationId: tenant.organizationId });
      const lost = [await charge(), await charge()];
      const running = await charge();
      expect(await refundLostCharges(db, 100)).to.equal(0);
      const longAgo = new Date(Date.now() - 11 * 60_000);
      await db.updateTable(`open_${purpose}`).set({ charged_at: longAgo }).where('id', 'in', lost).execute();
      expect([await refundLostCharges(db, 1), await refundLostCharges(db, 100), await refundLostCharges(db, 100)]).to.deep.equal([1, 1, 0]);
      expect(await usedCredits()).to.equal(credits);
      expect((await amounts()).slice(-1)).to.deep.equal([[`${purpose}:refund`, -credits, 'lost']]);
      const open = db.selectFrom(`open_${purpose}`).select('id').where('organization_id', '=', tenant.organizationId);
      expect(await open.execute()).to.deep.equal([{ id: running }]);
    });
});
