import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { sql } from 'kysely';
import { createCallRecord } from '../../domain/costs/record-calls.ts';
import { createKey } from '../support/api-keys.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { expectOk } from '../support/requests.ts';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';

describe('A budget in money', () => {
  const directory = makeTestDirectory();
  const file = join(directory, 'prices.json');
  const price = { role: 'chat', model: 'talker', from: '2020-01-01', input: '1', cached: '0.5', output: '2' };
  writeFileSync(file, JSON.stringify({ currency: 'EUR', prices: [price] }));
  const { api, tenant } = useApi({
    env: { WORKER_ENABLED: 'false', PROVIDER_PRICES: file },
    tenant: 'of each test',
    check: 'after each test',
  });
  after(() => removeTestDirectory(directory));

  const call = (operation: string, input: object, token = tenant.owner.token): Promise<any> =>
    callOver(api, 'REST', operation, input as Record<string, unknown>, { token });
  const budget = (costBudgetMicros: number | null) => expectOk(call('workspaces.update', { id: tenant.workspaceId, costBudgetMicros }));
  const embed = () => ({ kind: 'text.embed', organizationId: tenant.organizationId, texts: ['one'] });
  const create = (place: object = { workspaceId: tenant.workspaceId }) => call('jobs.create', { ...embed(), ...place });
  /** Stores a call of 1,000 millionths, or of a model without a price. */
  async function spend({ model = 'talker', workspaceId = tenant.workspaceId, purpose = 'job' as 'job' | 'reindex' } = {}) {
    const record = createCallRecord(api.database.db, (error) => {
      throw error;
    });
    const made = { organizationId: tenant.organizationId, workspaceId, purpose, role: 'chat' } as const;
    const id = await record.begin(made);
    await record.end(id, made, { role: 'chat', model, calls: 1, unreported: 0, input: 1_000, cached: 0, output: 0 });
    return id;
  }

  it('is set, shown, audited and lifted, by who may manage billing', async () => {
    const { organizationId, workspaceId: id } = tenant;
    const set = (costBudgetMicros: unknown, token?: string) => call('workspaces.update', { id, costBudgetMicros }, token);
    expect((await set(5_000)).body).to.include({ costBudgetMicros: 5_000 });
    expect((await call('workspaces.update', { id, name: 'Other' })).body).to.include({ costBudgetMicros: 5_000 });
    const member = await api.signUp('Grace Hopper');
    await api.addMember(organizationId, member, 'member');
    const key = await createKey(api, tenant, { permissions: ['workspace:update'] });
    for (const token of [member.token, key.token])
      for (const costBudgetMicros of [null, 6_000]) expect((await set(costBudgetMicros, token)).status).to.equal(403);
    for (const wrong of [-1, 0.5, '5', 2e15]) expect((await set(wrong)).body).to.include({ code: 'BAD_REQUEST' });
    expect((await set(null)).body).to.include({ costBudgetMicros: null });
    const { body } = await call('organizations.auditLog', { organizationId });
    const changes = body.entries.map(({ metadata }: any) => metadata.costBudgetMicros).filter((each: unknown) => each !== undefined);
    expect(changes).to.deep.equal([
      { from: 5_000, to: null },
      { from: null, to: 5_000 },
    ]);
  });

  it('refuses whatever is charged once it is reached, until it is raised', async () => {
    const { organizationId, workspaceId } = tenant;
    await budget(2_000);
    await spend();
    expect((await create()).status).to.equal(200);
    await spend();
    const { body } = await create();
    const data = { kind: 'costMicros', limit: 2_000, plan: 'free', scope: 'workspace' };
    expect(body).to.deep.include({ code: 'LIMIT_REACHED', defined: true, data });
    expect(body.message).to.equal('The budget in money of this workspace for the month is used up.');
    const question = { workspaceId, question: 'When does the dome open?' };
    const many = { organizationId, jobs: [embed(), { ...embed(), workspaceId }] };
    expect((await call('documents.ask', question)).body.data).to.deep.equal(data);
    expect((await call('jobs.createMany', many)).body.data).to.deep.equal(data);
    // A job that is there already is not charged, so that the next one of its workspace is the first to be checked.
    const { id: documentId } = await api.upload(tenant, { bytes: 'Mirrors are washed on Mondays.' });
    const there = { kind: 'document.index', documentId, once: true };
    await budget(null);
    await expectOk(call('jobs.create', there));
    await budget(2_000);
    const afterOne = { organizationId, jobs: [there, { ...embed(), workspaceId }] };
    expect((await call('jobs.createMany', afterOne)).body.data).to.deep.equal(data);
    expect((await call('documents.search', { workspaceId, query: 'dome', mode: 'lexical' })).status).to.equal(200);
    expect((await create({})).status).to.equal(200);
    await budget(2_001);
    expect((await create()).status).to.equal(200);
    await spend();
    expect((await create()).status).to.equal(403);
    await budget(null);
    expect((await create()).status).to.equal(200);
  });

  it('leaves out the jobs of an upload, which is there all the same', async () => {
    await call('workspaces.update', { id: tenant.workspaceId, autoProcess: ['document.index'], costBudgetMicros: 0 });
    const { id } = await api.upload(tenant, { bytes: 'Stored, and not read.' });
    const jobs = await api.database.db.selectFrom('job').select('id').where('document_id', '=', id).execute();
    expect(jobs).to.deep.equal([]);
  });

  it('counts what is known to have been paid in this month for this workspace', async () => {
    await budget(1_000);
    await spend({ model: 'unpriced' });
    await spend({ workspaceId: 'another' });
    await spend({ purpose: 'reindex' });
    expect((await create()).status).to.equal(200);
    const id = await spend();
    expect((await create()).status).to.equal(403);
    const start = sql`date_trunc('month', now() at time zone 'utc') at time zone 'utc'`;
    const move = (to: unknown) => sql`update provider_call set created_at = ${to} where id = ${id}`.execute(api.database.db);
    await move(sql`${start} - interval '1 millisecond'`);
    expect((await create()).status).to.equal(200);
    await move(start);
    expect((await create()).status).to.equal(403);
  });
});
