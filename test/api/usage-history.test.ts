import { expect } from 'chai';
import { type OpenPurpose, openCharge, refundCharge, settleCharge } from '../../domain/credits/open-charge.ts';
import { claimJob } from '../../domain/jobs/claim-job.ts';
import { settleAttempt } from '../../domain/jobs/settle-attempt.ts';
import { createKey } from '../support/api-keys.ts';
import { outageTimes } from '../support/outage-times.ts';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';

describe('organizations.usageHistory', () => {
  const { api, tenant } = useApi({ env: { WORKER_ENABLED: 'false' }, tenant: 'of each test', check: 'after each test' });
  const today = () => new Date().toISOString().slice(0, 10);
  const summarize = () => ({ kind: 'text.summarize', organizationId: tenant.organizationId, text: 'One. Two. Three.' });
  const embed = (more: object = {}) => ({ kind: 'text.embed', organizationId: tenant.organizationId, texts: ['one'], ...more });

  async function call(operation: string, input: object, token = tenant.owner.token): Promise<any> {
    const { status, body } = await callOver(api, 'REST', operation, input as Record<string, unknown>, { token });
    expect(status, JSON.stringify(body)).to.equal(200);
    return body;
  }
  const history = (input: object = {}) => call('organizations.usageHistory', { organizationId: tenant.organizationId, ...input });

  it('shows what was charged and given back, and what unfinished jobs hold', async () => {
    await call('jobs.create', summarize());
    const canceled = await call('jobs.create', summarize());
    await call('jobs.create', embed());
    await call('jobs.cancel', { id: canceled.id });
    const { db } = api.database;
    await refundCharge(db, 'search', await openCharge(db, async () => null, 'search', { organizationId: tenant.organizationId }));
    expect(await history({})).to.deep.equal({
      ...{ from: new Date(Date.now() - 30 * 86_400_000).toISOString().slice(0, 10), to: today(), heldCredits: 6, more: false },
      items: [
        { day: today(), group: 'documents.search', charged: 1, refunded: 1 },
        { day: today(), group: 'text.embed', charged: 1, refunded: 0 },
        { day: today(), group: 'text.summarize', charged: 10, refunded: 5 },
      ],
    });
    const { usage } = await call('organizations.usage', { organizationId: tenant.organizationId });
    expect(usage.aiCredits).to.equal(6);
  });

  it('counts as held what a search and an answer that are under way may still give back', async () => {
    const { db } = api.database;
    const { organizationId } = tenant;
    const held = async () => (await history()).heldCredits;
    const open = (purpose: OpenPurpose, of = organizationId) => openCharge(db, async () => null, purpose, { organizationId: of });
    const search = await open('search');
    const answer = await open('answer');
    await open('answer', (await api.createTenant()).organizationId);
    expect(await held()).to.equal(4);
    await refundCharge(db, 'search', search);
    expect(await held()).to.equal(3);
    await settleCharge(db, 'answer', answer);
    expect(await held()).to.equal(0);
  });

  it('counts as held what a job may still give back, and nothing else', async () => {
    const { db } = api.database;
    const { workspaceId } = tenant;
    const held = async () => (await history()).heldCredits;
    const { id } = await call('jobs.create', { ...summarize(), workspaceId });
    const { id: canceled } = await call('jobs.create', embed());
    expect(await held()).to.equal(6);
    await call('jobs.cancel', { id: canceled });
    expect(await held()).to.equal(5);
    const fail = (retryable: boolean) =>
      settleAttempt(db, { jobId: id, claimedBy: 'attempt', failure: { code: 'ai_failed', message: 'It failed.', retryable } }, [0]);
    // An attempt whose worker was killed leaves the job running; one that failed, queued again.
    await claimJob(db, id, 'attempt', outageTimes);
    expect(await held()).to.equal(5);
    await fail(true);
    expect(await held()).to.equal(5);
    await claimJob(db, id, 'attempt', outageTimes);
    await fail(false);
    expect(await held()).to.equal(0);
    await call('jobs.retry', { id });
    expect(await held()).to.equal(5);
    await call('workspaces.delete', { id: workspaceId });
    expect(await held()).to.equal(0);
    const [, summarized] = (await history()).items;
    expect(summarized).to.include({ group: 'text.summarize', charged: 10, refunded: 10 });
  });

  it('tells workspaces and API keys apart', async () => {
    const key = await createKey(api, tenant);
    const { workspaceId } = tenant;
    const byKey = await call('jobs.create', embed({ workspaceId }), key.token);
    await call('jobs.create', { ...summarize(), workspaceId });
    await call('jobs.create', embed());
    await call('jobs.cancel', { id: byKey.id });
    const day = today();
    expect((await history({ by: 'workspace' })).items).to.deep.equal([
      { day, group: workspaceId, charged: 6, refunded: 1 },
      { day, group: null, charged: 1, refunded: 0 },
    ]);
    expect((await history({ by: 'key' })).items).to.deep.equal([
      { day, group: key.id, charged: 1, refunded: 1 },
      { day, group: null, charged: 6, refunded: 0 },
    ]);
  });

  it('has the days that are asked for, by UTC, and no other organization', async () => {
    await call('jobs.create', embed());
    const { db } = api.database;
    const at = async (time: string) => {
      await call('jobs.create', embed());
      const { id } = await db.selectFrom('credit_entry').select('id').orderBy('id', 'desc').limit(1).executeTakeFirstOrThrow();
      await db
        .updateTable('credit_entry')
        .set({ created_at: new Date(time) })
        .where('id', '=', id)
        .execute();
    };
    for (const time of ['2026-02-27T23:59:59.999Z', '2026-02-28T00:00:00.000Z', '2026-03-01T23:59:59.999Z', '2026-03-02T00:00:00.000Z'])
      await at(time);
    const { from, to, items } = await history({ to: '2026-03-01', days: 2 });
    expect([from, to]).to.deep.equal(['2026-02-28', '2026-03-01']);
    expect(items.map((item: any) => [item.day, item.charged])).to.deep.equal([
      ['2026-03-01', 1],
      ['2026-02-28', 1],
    ]);
    const other = await api.createTenant();
    expect(await call('organizations.usageHistory', { organizationId: other.organizationId }, other.owner.token)).to.include({
      heldCredits: 0,
    });
  });

  it('reaches from the year 2000 to the last day that is written with four digits', async () => {
    const ranges = { '2000-01-01': '1999-12-02', '2024-02-29': '2024-01-30', '9999-12-31': '9999-12-01' };
    for (const [to, from] of Object.entries(ranges)) expect(await history({ to })).to.include({ from, to });
  });

  it('refuses a range that is too long and days that are none', async () => {
    const noDays = ['2026-02-30', '2025-02-29', '2026-04-31', '1999-12-31', '2026-11-30T00:00:00Z', '0000-01-01'].map((to) => ({ to }));
    for (const wrong of [{ days: 32 }, { days: 0 }, { to: '2026-13-01' }, { to: 'today' }, { by: 'user' }, ...noDays]) {
      const input = { organizationId: tenant.organizationId, ...wrong };
      const { body } = await callOver(api, 'REST', 'organizations.usageHistory', input, { token: tenant.owner.token });
      expect(body, JSON.stringify(wrong)).to.include({ code: 'BAD_REQUEST' });
    }
  });
});
