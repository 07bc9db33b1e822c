import { expect } from 'chai';
import { claimJob } from '../../domain/jobs/claim-job.ts';
import { settleAttempt } from '../../domain/jobs/settle-attempt.ts';
import { createKey } from '../support/api-keys.ts';
import { outageTimes } from '../support/outage-times.ts';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';

describe('A budget of credits', () => {
  const { api, tenant } = useApi({ env: { WORKER_ENABLED: 'false' }, tenant: 'of each test', check: 'after each test' });
  const owner = () => tenant.owner.token;
  const call = (operation: string, input: object, token = owner()): Promise<any> =>
    callOver(api, 'REST', operation, input as Record<string, unknown>, { token });
  const budget = (creditBudget: number | null) => call('workspaces.update', { id: tenant.workspaceId, creditBudget });
  const create = (token = owner(), place: object = { workspaceId: tenant.workspaceId }) =>
    call('jobs.create', { kind: 'text.embed', organizationId: tenant.organizationId, texts: ['one'], ...place }, token);
  const statuses = async (count: number, token?: string) =>
    (await Promise.all(Array.from({ length: count }, () => create(token)))).map(({ status }) => status).sort();

  it('is set, shown, audited and lifted', async () => {
    const { organizationId, workspaceId: id } = tenant;
    const changed = await call('workspaces.update', { id, creditBudget: 5 });
    expect(changed.body).to.include({ creditBudget: 5 });
    expect((await call('workspaces.update', { id, name: 'Other' })).body).to.include({ creditBudget: 5 });
    expect((await call('workspaces.update', { id, creditBudget: null })).body).to.include({ creditBudget: null });
    const key = await createKey(api, tenant);
    expect((await call('apiKeys.update', { id: key.id, creditBudget: 0 })).body).to.include({ creditBudget: 0 });
    expect((await call('apiKeys.list', { organizationId })).body[0]).to.include({ creditBudget: 0 });
    const { body } = await call('organizations.auditLog', { organizationId });
    const changes = body.entries.filter(({ action }: any) => action.endsWith('.update')).map(({ metadata }: any) => metadata);
    expect(changes.map((each: any) => each.creditBudget).filter((each: unknown) => each !== undefined)).to.deep.equal([
      { from: null, to: 0 },
      { from: 5, to: null },
      { from: null, to: 5 },
    ]);
  });

  it('of a workspace holds at its border against fifty requests at once, with billing off', async () => {
    await budget(20);
    expect(await statuses(50)).to.deep.equal([...Array(20).fill(200), ...Array(30).fill(403)]);
    const { body } = await create();
    expect(body).to.deep.include({
      code: 'LIMIT_REACHED',
      defined: true,
      data: { kind: 'aiCredits', limit: 20, plan: 'free', scope: 'workspace' },
    });
    expect(body.message).to.equal('The budget of this workspace for the month is used up.');
    expect((await create(owner(), {})).status).to.equal(200);
    await budget(21);
    expect(await statuses(2)).to.deep.equal([200, 403]);
    await budget(null);
    expect((await create()).status).to.equal(200);
  });

  it('of an API key bounds that key alone, and gets back what is refunded', async () => {
    const [key, other] = [await createKey(api, tenant, { creditBudget: 3 }), await createKey(api, tenant)];
    const { id } = (await create(key.token)).body;
    expect(await statuses(7, key.token)).to.deep.equal([200, 200, 403, 403, 403, 403, 403]);
    expect((await create(key.token)).body.data).to.deep.equal({ kind: 'aiCredits', limit: 3, plan: 'free', scope: 'key' });
    expect((await create(other.token)).status).to.equal(200);
    expect((await create()).status).to.equal(200);
    expect((await call('jobs.cancel', { id })).status).to.equal(200);
    expect(await statuses(3, key.token)).to.deep.equal([200, 403, 403]);
  });

  it('bounds whatever is charged, and nothing that is free', async () => {
    const { organizationId, workspaceId } = tenant;
    const { db } = api.database;
    const { id } = (await create()).body;
    await claimJob(db, id, 'attempt', outageTimes);
    const failure = { code: 'ai_failed', message: 'It failed.', retryable: false };
    await settleAttempt(db, { jobId: id, claimedBy: 'attempt', failure }, [0]);
    await budget(0);
    const embed = { kind: 'text.embed', organizationId, texts: ['one'] };
    for (const [operation, input] of [
      ['documents.ask', { workspaceId, question: 'When does the dome open?' }],
      ['jobs.retry', { id }],
      ['jobs.createMany', { organizationId, jobs: [embed, { ...embed, workspaceId }] }],
    ] as const)
      expect((await call(operation, input)).body.data, operation).to.deep.equal({
        kind: 'aiCredits',
        limit: 0,
        plan: 'free',
        scope: 'workspace',
      });
    expect((await call('documents.search', { workspaceId, query: 'dome', mode: 'lexical' })).status).to.equal(200);
  });

  it('counts the month that it is, and no other', async () => {
    await budget(1);
    expect((await create()).status).to.equal(200);
    const { db } = api.database;
    const last = new Date(Date.now() - 40 * 86_400_000).toISOString().slice(0, 7);
    await db.transaction().execute(async (trx) => {
      for (const table of ['credit_entry', 'credit_month', 'job'] as const) {
        const column = table === 'job' ? 'credit_month' : 'month';
        const changed = trx.updateTable(table).set({ [column]: `${last}-01` } as never);
        await changed.where('organization_id', '=', tenant.organizationId).execute();
      }
    });
    expect(await statuses(2)).to.deep.equal([200, 403]);
  });

  it('is neither set nor lifted by who may not manage billing, and is a number of credits', async () => {
    const { workspaceId: id, organizationId } = tenant;
    const member = await api.signUp('Grace Hopper');
    await api.addMember(organizationId, member, 'member');
    await budget(1);
    for (const creditBudget of [null, 100]) {
      const { status } = await call('workspaces.update', { id, creditBudget }, member.token);
      expect(status).to.equal(403);
    }
    const key = await createKey(api, tenant, { permissions: ['workspace:update'] });
    expect((await call('workspaces.update', { id, creditBudget: null }, key.token)).status).to.equal(403);
    for (const creditBudget of [-1, 1.5, 'many', 2_000_000_000]) {
      const { body } = await call('workspaces.update', { id, creditBudget });
      expect(body).to.include({ code: 'BAD_REQUEST' });
    }
  });

  it('in money is refused without prices of providers, and none can be lifted', async () => {
    const set = (costBudgetMicros: number | null) => call('workspaces.update', { id: tenant.workspaceId, costBudgetMicros });
    const { body } = await set(1);
    expect(body).to.include({ code: 'BAD_REQUEST' });
    expect(body.data.issues[0].path).to.deep.equal(['costBudgetMicros']);
    expect((await set(null)).status).to.equal(200);
  });
});
