import { expect } from 'chai';
import type { ReplayFilter, ReplayInput, ReplayProgress } from '../../contract/intents/inputs.ts';
import { inTransaction } from '../../db/transaction.ts';
import { systemActor } from '../../domain/audit.ts';
import { countReplayable, listReplayable, replayJob, requestReplay } from '../../domain/jobs/replay-jobs.ts';
import { suspendOrganization } from '../../domain/organizations/suspend-organization.ts';
import type { Tenant } from '../support/api.ts';
import { until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

describe('replayFailedJobs', () => {
  const { api, tenant } = useApi();
  let failed: string[];

  before(async () => {
    failed = await failJobs(tenant, 5);
  });

  /** Jobs that fail finally: indexing a document that says it is a PDF and is none. */
  async function failJobs(of: Tenant, count: number): Promise<string[]> {
    const { token } = of.owner;
    const { id: documentId } = await api.upload(of, { contentType: 'application/pdf', bytes: 'this is no PDF' });
    const ids: string[] = [];
    for (let n = 0; n < count; n++) {
      const created = await api.request('POST', '/api/v1/jobs', { token, body: { kind: 'document.extract', documentId } });
      ids.push(created.body.id);
    }
    for (const id of ids) await api.jobIn(token, id, ['failed']);
    return ids;
  }

  let runs = 0;
  const start = (id: string, input: ReplayInput): Promise<ReplayProgress> =>
    api.temporal.client.workflow.execute('replayFailedJobs', { taskQueue: 'sheaf', workflowId: id, args: [input] });
  async function replay(input: ReplayInput): Promise<ReplayProgress> {
    const id = `replay-${++runs}`;
    await requestReplay(api.database.db, { id, input });
    return await start(id, input);
  }

  const retriesOf = (ids: string[]) =>
    api.database.db.selectFrom('job').select(['id', 'retry_of', 'replay_run']).where('retry_of', 'in', ids).execute();

  it('refuses an input that it would misread, and retries nothing', async () => {
    const mistyped: Record<string, unknown>[] = [
      { organizationID: 'another' },
      { from: 'yesterday' },
      { to: '2026-11-21' },
      { limit: '2' },
      { limit: 0 },
      { perMinute: 0.5 },
      { dryRun: true },
    ];
    for (const input of [...mistyped, ['another']]) {
      const failure = await replay(input as ReplayInput).catch((error: unknown) => error);
      expect(failure, JSON.stringify(input)).to.have.nested.property('cause.type', 'InvalidInput');
    }
    expect(await retriesOf(failed)).to.deep.equal([]);
  });

  it('retries nothing on the word of whoever starts the workflow, and says so', async () => {
    const { organizationId } = tenant;
    const progress = { matched: 0, retried: 0, skipped: {}, after: null };
    await requestReplay(api.database.db, { id: 'asked-for', input: { organizationId: 'another' } });
    for (const [id, input] of [
      ['forged', { organizationId }],
      ['forged-in-the-middle', { organizationId, progress }],
      ['asked-for', { organizationId }],
    ] as [string, ReplayInput][]) {
      const failure = await start(id, input).catch((error) => error.cause.cause);
      expect(failure, id).to.include({ type: 'NotRequested', nonRetryable: true });
      expect(failure.message).to.match(/^Nobody has asked for this replay/);
    }
    expect(await retriesOf(failed)).to.deep.equal([]);
    expect(await countReplayable(api.database.db, { organizationId }, 3)).to.equal(3);
    expect(await countReplayable(api.database.db, { organizationId }, 1_000)).to.equal(5);
  });

  it('narrows by organization, kind, error and time', async () => {
    const organizationId = tenant.organizationId;
    const matched = (filter: ReplayFilter) => countReplayable(api.database.db, filter, 1_000);
    const { body } = await api.request('GET', `/api/v1/jobs/${failed[0]}`, { token: tenant.owner.token });
    expect(await matched({ organizationId: 'another' })).to.equal(0);
    expect(await matched({ organizationId, kind: 'text.embed' })).to.equal(0);
    expect(await matched({ organizationId, errorCode: body.error.code })).to.equal(5);
    expect(await matched({ organizationId, errorCode: 'another' })).to.equal(0);
    expect(await matched({ organizationId, to: body.createdAt })).to.equal(0);
    expect(await matched({ organizationId, from: body.createdAt })).to.equal(5);
    expect(await matched({ organizationId, from: new Date(Date.now() + 60_000).toISOString() })).to.equal(0);
  });

  it('leaves out those that no retry helps: of a document that is gone, or of a suspended organization', async () => {
    const { db } = api.database;
    const other = await api.createTenant();
    const [gone, kept] = [await failJobs(other, 2), await failJobs(other, 1)];
    const { document_id } = await db
      .selectFrom('job')
      .select('document_id')
      .where('id', '=', gone[0] ?? '')
      .executeTakeFirstOrThrow();
    await api.request('DELETE', `/api/v1/documents/${document_id}`, { token: other.owner.token });
    const matched = () => countReplayable(db, { organizationId: other.organizationId }, 1_000);
    await until(async () => (await matched()) === 1);
    await inTransaction(db, (trx) => suspendOrganization(trx, systemActor, { organizationId: other.organizationId, reason: 'unpaid' }));
    expect(await matched()).to.equal(0);
    expect(await replayJob(db, async () => null, kept[0] ?? '', 'late')).to.deep.equal({
      retried: false,
      reason: 'ORGANIZATION_SUSPENDED',
    });
  });

  it('retries each once, charged again, up to its limit, and audits the replay', async () => {
    const { organizationId } = tenant;
    const first = await replay({ organizationId, limit: 2, perMinute: 6_000, requestedBy: 'sre@example.com' });
    expect(first).to.include({ matched: 2, retried: 2 });
    const [retried] = await retriesOf(failed);
    for (const { id } of await retriesOf(failed)) await api.jobIn(tenant.owner.token, id, ['failed']);
    const left = (replayRun?: string) => listReplayable(api.database.db, { organizationId }, { replayRun, after: null, limit: 100 });
    expect(await left(retried?.replay_run ?? '')).to.deep.equal(failed.slice(2));
    expect(await left('another')).to.have.length(5);
    expect(await left(), 'for a step that an earlier version has scheduled').to.have.length(5);
    const second = await replay({ organizationId, perMinute: 6_000 });
    expect(second).to.include({ matched: 5, retried: 5 });
    const retries = await retriesOf(failed);
    for (const { id } of retries) await api.jobIn(tenant.owner.token, id, ['failed']);
    expect(await left(retried?.replay_run ?? ''), 'for a replay beside another, which would retry each retry of it').to.deep.equal([]);
    expect(retries.map(({ retry_of }) => retry_of).sort()).to.deep.equal([...failed].sort());
    const charges = await api.database.db
      .selectFrom('credit_entry')
      .select('key')
      .where(
        'key',
        'in',
        retries.map(({ id }) => `job:${id}:charge`),
      )
      .execute();
    expect(charges).to.have.lengthOf(5);
    const audit = await api.database.db.selectFrom('audit_entry').selectAll().where('action', '=', 'job.replay').execute();
    expect(audit).to.have.lengthOf(2);
    expect(audit.some(({ actor_email }) => actor_email === 'sre@example.com')).to.equal(true);
  });

  it('retries none that another replay, or a member, has retried since it was listed', async () => {
    const { owner } = tenant;
    const ids = await failJobs(tenant, 2);
    await api.request('POST', `/api/v1/jobs/${ids[0]}/retry`, { token: owner.token });
    const replays = await Promise.all(
      ['one', 'two'].flatMap((run) => ids.map((id) => replayJob(api.database.db, async () => null, id, run))),
    );
    expect(replays.filter(({ retried }) => retried)).to.have.length(1);
    expect(replays).to.deep.include({ retried: false, reason: 'already_retried' });
    expect((await retriesOf(ids)).map(({ retry_of }) => retry_of)).to.have.members(ids);
  });
});
