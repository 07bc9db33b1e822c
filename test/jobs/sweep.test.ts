import { WorkflowFailedError } from '@temporalio/client';
import { expect } from 'chai';
import type { KyselyPlugin } from 'kysely';
import { workflowIds } from '../../contract/intents/definitions.ts';
import { findDocument } from '../../domain/documents/document.ts';
import { storeText } from '../../domain/documents/document-text.ts';
import { claimJob } from '../../domain/jobs/claim-job.ts';
import type { JobRow } from '../../domain/jobs/job.ts';
import { settleAttempt, workspaceLocked } from '../../domain/jobs/settle-attempt.ts';
import { storeOutcome } from '../../domain/jobs/store-outcome.ts';
import { sweepLostAttempts, sweepQueuedJobs } from '../../domain/jobs/sweep-jobs.ts';
import { listStuck } from '../../domain/platform/backlog.ts';
import { storeChunks } from '../../domain/search/store-chunks.ts';
import { goodAnswer } from '../support/fake-ai.ts';
import { amountsOf, createJob, expectCleanLog, expectSoundLedger, insertJobOnly, summary } from '../support/jobs.ts';
import { outageTimes } from '../support/outage-times.ts';
import { noOutline } from '../support/outline.ts';
import { until } from '../support/processes.ts';
import { withoutSweeps } from '../support/sweeps.ts';
import { useApi } from '../support/use-api.ts';

const timeoutMs = 120_000;

const delaysMs = [1_000];

describe('The sweep', () => {
  // No worker: the tests are the worker, and decide when it is lost.
  const { api, tenant } = useApi({ env: { WORKER_ENABLED: 'false' } });
  after(async () => {
    expectCleanLog(api);
  });
  afterEach(() => expectSoundLedger(api));

  const sweep = (
    onFailure = (_jobId: string, error: unknown): void => {
      throw error;
    },
  ) => sweepLostAttempts(api.database.db, { timeoutMs, limit: 100, onFailure });
  const rowOf = (id: string): Promise<JobRow> =>
    api.database.db.selectFrom('job').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const ago = (ms: number) => new Date(Date.now() - ms);
  const setRow = (id: string, values: Partial<JobRow>) =>
    api.database.db
      .updateTable('job')
      .set(values as never)
      .where('id', '=', id)
      .execute();

  /** A job whose attempt began so long ago. */
  async function running(begunMsAgo: number, fields = {}, of = tenant): Promise<JobRow> {
    const { job } = await insertJobOnly(api, of, { ...summary, ...fields });
    const claim = await claimJob(api.database.db, job.id, 'run/1', outageTimes);
    expect(claim.claimed).to.equal(true);
    await setRow(job.id, { started_at: ago(begunMsAgo) });
    return rowOf(job.id);
  }

  it('leaves a job alone whose attempt began less than twice the timeout ago', async () => {
    const { id } = await running(2 * timeoutMs - 30_000);
    expect(await sweep()).to.deep.equal({ requeued: 0, failed: 0 });
    expect(await rowOf(id)).to.include({ status: 'running', attempts: 1 });
    await storeOutcome(api.database.db, await rowOf(id), { result: {} });
  });

  it('queues a job again whose attempt is lost, and asks for its workflow', async () => {
    const { id } = await running(2 * timeoutMs + 1_000);
    await api.database.db.deleteFrom('outbox').where('workflow_id', '=', `job-${id}`).execute();
    const swept = await sweep();
    expect(swept).to.deep.equal({ requeued: 1, failed: 0 });
    const intents = await api.database.db.selectFrom('outbox').select('intent').where('workflow_id', '=', `job-${id}`).execute();
    expect(intents.map(({ intent }) => intent.operation)).to.deep.equal(['start']);
    expect(await rowOf(id)).to.include({ status: 'queued', attempts: 1, claimed_by: null, error_code: 'worker_lost' });
    expect(await amountsOf(api, id)).to.deep.equal([5]);
    const shown = await api.request('GET', `/api/v1/jobs/${id}`, { token: tenant.owner.token });
    expect(shown.body.error).to.deep.equal({ code: 'worker_lost', message: 'The worker was lost during the attempt.' });
    expect(shown.body.nextAttemptAt).to.be.a('string');
  });

  it('goes on with the jobs of others if the lock of one is held, and takes that one back the next time', async () => {
    const { id: held } = await running(2 * timeoutMs + 3_000);
    const { id: ofTheSame } = await running(2 * timeoutMs + 2_000);
    const other = await api.createTenant();
    const { id: ofAnother } = await running(2 * timeoutMs + 1_000, {}, other);
    const locked = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const holder = api.database.db.transaction().execute(async (trx) => {
      await trx.selectFrom('job').select('id').where('id', '=', held).forUpdate().execute();
      locked.resolve();
      await released.promise;
    });
    await locked.promise;
    const failed: string[] = [];
    const began = performance.now();
    try {
      expect(await sweep((jobId) => failed.push(jobId))).to.deep.equal({ requeued: 1, failed: 0 });
    } finally {
      released.resolve();
      await holder;
    }
    expect(failed).to.deep.equal([held]);
    // A worker's transaction would wait for ten seconds, in each organization.
    expect(performance.now() - began).to.be.below(9_000);
    expect((await rowOf(ofAnother)).status).to.equal('queued');
    expect(await sweep()).to.deep.equal({ requeued: 2, failed: 0 });
    expect((await rowOf(ofTheSame)).status).to.equal('queued');
  });

  it('fails a job whose attempts are spent, and gives its credits back', async () => {
    const { id } = await running(2 * timeoutMs + 1_000, { maxAttempts: 1 });
    expect(await sweep()).to.include({ requeued: 0, failed: 1 });
    expect(await rowOf(id)).to.include({ status: 'failed', error_code: 'worker_lost' });
    expect(await amountsOf(api, id)).to.deep.equal([5, -5]);
    expect(await sweep()).to.include({ requeued: 0, failed: 0 });
  });

  it('counts from the current attempt, not from the first', async () => {
    const { id } = await running(2 * timeoutMs + 1_000);
    await sweep();
    await claimJob(api.database.db, id, 'run/2', outageTimes);
    expect(await sweep()).to.include({ requeued: 0, failed: 0 });
    expect(await rowOf(id)).to.include({ status: 'running', attempts: 2 });
    await storeOutcome(api.database.db, await rowOf(id), { result: {} });
  });

  it('counts for a job with stages from the last one that was stored', async () => {
    const { db } = api.database;
    const { id } = await running(2 * timeoutMs + 1_000);
    const stored = await storeOutcome(db, await rowOf(id), { result: { extract: {} }, isUnfinished: true });
    expect(stored).to.deep.include({ status: 'running', attempts: 1, stages: { extract: {} }, result: null, finished_at: null });
    const stuck = async () => (await listStuck(db, { jobTimeoutMs: timeoutMs, limit: 10 })).filter((each) => each.id === id);
    expect([await sweep(), await stuck()]).to.deep.equal([{ requeued: 0, failed: 0 }, []]);
    await setRow(id, { updated_at: ago(2 * timeoutMs + 1_000) });
    expect(await stuck()).to.have.length(1);
    expect(await sweep()).to.deep.equal({ requeued: 1, failed: 0 });
    expect(await rowOf(id)).to.deep.include({ status: 'queued', stages: { extract: {} } });
    expect(await storeOutcome(db, await rowOf(id), { result: { extract: {}, index: {} }, isUnfinished: true })).to.equal(undefined);
    expect((await rowOf(id)).stages).to.deep.equal({ extract: {} });
  });

  it('leaves an attempt alone that began after it looked, even if it has the number of the lost one', async () => {
    const { db } = api.database;
    const { id } = await running(2 * timeoutMs + 1_000);
    const swept = await sweepThat(async () => {
      const failure = { code: workspaceLocked, message: 'It is locked.', retryable: true };
      await settleAttempt(db, { jobId: id, claimedBy: 'run/1', failure }, [0]);
      await claimJob(db, id, 'run/2', outageTimes);
    });
    expect(swept).to.deep.equal({ requeued: 0, failed: 0 });
    expect(await rowOf(id)).to.include({ status: 'running', attempts: 1, claimed_by: 'run/2' });
    await storeOutcome(db, await rowOf(id), { result: {} });
  });

  it('leaves an attempt alone that stored a stage after it looked', async () => {
    const { db } = api.database;
    const { id } = await running(2 * timeoutMs + 1_000);
    const stages = { extract: {} };
    const swept = await sweepThat(async () => {
      await storeOutcome(db, await rowOf(id), { result: stages, isUnfinished: true });
    });
    expect(swept).to.deep.equal({ requeued: 0, failed: 0 });
    expect(await rowOf(id)).to.deep.include({ status: 'running', attempts: 1, stages });
    await storeOutcome(db, await rowOf(id), { result: {} });
  });

  /** Sweeps while something else happens between its look and its locks. */
  async function sweepThat(meanwhile: () => Promise<void>) {
    let looked = false;
    const plugin: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        if (looked) return result;
        looked = true;
        await meanwhile();
        return result;
      },
    };
    const onFailure = (_jobId: string, error: unknown): void => {
      throw error;
    };
    return await sweepLostAttempts(api.database.db.withPlugin(plugin), { timeoutMs, limit: 100, onFailure });
  }

  it('takes each lost job once when several sweeps run at the same time', async () => {
    const jobs = await Promise.all(Array.from({ length: 10 }, () => running(2 * timeoutMs + 1_000)));
    const sweeps = await Promise.all(Array.from({ length: 4 }, sweep));
    expect(sweeps.reduce((sum, { requeued }) => sum + requeued, 0)).to.equal(10);
    for (const { id } of jobs) expect(await rowOf(id)).to.include({ status: 'queued', attempts: 1 });
  });

  describe('leaves a zombie, which wakes up after another took its job, nothing to change', () => {
    /** A document with a text, and a job on it whose first attempt is presumed lost while the second runs. */
    async function superseded(): Promise<{ zombie: JobRow; documentId: string }> {
      const { id: documentId } = await api.upload(tenant, { bytes: 'Some text.' });
      const { job } = await insertJobOnly(api, tenant, { kind: 'document.index', documentId });
      const { db } = api.database;
      const claim = await claimJob(db, job.id, 'run/1', outageTimes);
      await setRow(job.id, { started_at: ago(2 * timeoutMs + 1_000) });
      await sweep();
      await claimJob(db, job.id, 'run/2', outageTimes);
      return { zombie: claim.job as JobRow, documentId };
    }

    it('with its result, text and chunks', async () => {
      const { db } = api.database;
      const { zombie, documentId } = await superseded();
      const document = await findDocument(db, documentId);
      if (!document) throw new Error('the document is gone');
      const stored = await storeOutcome(db, zombie, {
        result: { chunks: 1 },
        async effects(trx) {
          await storeText(trx, document, { text: 'zombie', characters: 6, pages: null, truncated: false, outline: noOutline });
          await storeChunks(trx, document, { model: 'zombie', dimensions: 2, chunking: '1' }, [{ text: 'zombie', embedding: [1, 0] }]);
        },
      });
      expect(stored).to.equal(undefined);
      expect(await rowOf(zombie.id)).to.include({ status: 'running', attempts: 2, result: null, claimed_by: 'run/2' });
      expect(await findDocument(db, documentId)).to.include({ extracted_at: null, indexed_at: null, chunk_count: null });
      expect(await db.selectFrom('chunk').selectAll().where('document_id', '=', documentId).execute()).to.deep.equal([]);
      expect(await db.selectFrom('document_text').selectAll().where('document_id', '=', documentId).execute()).to.deep.equal([]);
    });

    for (const retryable of [true, false]) {
      it(`with its ${retryable ? 'retryable' : 'final'} failure`, async () => {
        const { zombie } = await superseded();
        const failure = { code: 'late', message: 'Too late.', retryable };
        const settled = await settleAttempt(api.database.db, { jobId: zombie.id, claimedBy: 'run/1', failure }, delaysMs);
        expect(settled).to.deep.equal({ status: 'running' });
        expect(await rowOf(zombie.id)).to.include({ status: 'running', attempts: 2, claimed_by: 'run/2' });
        expect(await amountsOf(api, zombie.id)).to.deep.equal([2]);
      });
    }

    it('once the job is final', async () => {
      const { db } = api.database;
      const { zombie } = await superseded();
      const failure = { code: 'final', message: 'It is over.', retryable: false };
      await settleAttempt(db, { jobId: zombie.id, claimedBy: 'run/2', failure }, delaysMs);
      const before = await rowOf(zombie.id);
      expect(await storeOutcome(db, zombie, { result: {} })).to.equal(undefined);
      const late = { code: 'late', message: 'Too late.', retryable: false };
      expect(await settleAttempt(db, { jobId: zombie.id, claimedBy: 'run/1', failure: late }, delaysMs)).to.deep.equal({
        status: 'failed',
        error: { code: 'final', message: 'It is over.' },
      });
      expect(await rowOf(zombie.id)).to.deep.equal(before);
      expect(await amountsOf(api, zombie.id)).to.deep.equal([2, -2]);
    });
  });

  describe('starts again what no workflow carries', () => {
    const pro = { plan: 'pro', limits: { workspaces: 1, members: 1, aiCredits: 1, storageBytes: 1 } } as const;
    const sweepQueued = async () =>
      (await sweepQueuedJobs(api.database.db, { limit: 100, getPlan: async () => pro })).map(workflowIds.runJob);
    const forget = (id: string) => api.database.db.deleteFrom('outbox').where('workflow_id', '=', `job-${id}`).execute();

    async function queued(values: Partial<JobRow>): Promise<string> {
      const { job } = await insertJobOnly(api, tenant, summary);
      await forget(job.id);
      await setRow(job.id, values);
      return `job-${job.id}`;
    }

    before(() => api.database.db.updateTable('job').set({ swept_at: new Date() }).execute());

    it('with the plan of its organization, which decides the share of the workers', async () => {
      const id = await queued({ created_at: ago(61_000) });
      expect(await sweepQueued()).to.deep.equal([id]);
      const { intent } = await api.database.db
        .selectFrom('outbox')
        .select('intent')
        .where('workflow_id', '=', id)
        .executeTakeFirstOrThrow();
      expect(intent).to.include({ workflow: 'runJob', plan: 'pro' });
      await forget(id.slice('job-'.length));
    });

    it('but for one that is locked, which has its turn later', async () => {
      const [held, other] = [await queued({ created_at: ago(62_000) }), await queued({ created_at: ago(61_000) })];
      await api.database.db.transaction().execute(async (trx) => {
        await trx.selectFrom('job').select('id').where('id', '=', held.slice('job-'.length)).forUpdate().execute();
        expect(await sweepQueued()).to.deep.equal([other]);
      });
      expect(await sweepQueued()).to.deep.equal([held]);
    });

    it('but not at once, not while its intent waits, not before its next attempt is due, and not every minute', async () => {
      const old = await queued({ created_at: ago(61_000) });
      const fresh = await queued({ created_at: ago(30_000) });
      const waiting = await queued({ created_at: ago(600_000), next_attempt_at: ago(-30_000) });
      const due = await queued({ created_at: ago(600_000), next_attempt_at: ago(61_000) });
      const { job } = await insertJobOnly(api, tenant, summary);
      await setRow(job.id, { created_at: ago(61_000) });

      const first = await sweepQueued();

      expect(first.sort()).to.deep.equal([old, due].sort());
      expect([fresh, waiting, `job-${job.id}`].some((id) => first.includes(id))).to.equal(false);
      await api.database.db.deleteFrom('outbox').where('workflow_id', 'in', [old, due]).execute();
      expect(await sweepQueued()).to.deep.equal([]);
    });
  });
});

describe('The sweep of a running worker', () => {
  const { api, ai, tenant } = useApi({ ai: true, env: { JOB_TIMEOUT_MS: '60000' }, check: 'at the end' });

  it('starts what has no workflow also if an attempt cannot be taken back, and then fails', () =>
    withoutSweeps(api, async () => {
      const { db } = api.database;
      const { job, message } = await insertJobOnly(api, tenant, { ...summary, maxAttempts: 1 });
      await db.deleteFrom('outbox').where('id', '=', message.id).execute();
      expect((await claimJob(db, job.id, 'run/1', outageTimes)).claimed).to.equal(true);
      await db
        .updateTable('job')
        .set({ started_at: new Date(0) })
        .where('id', '=', job.id)
        .execute();
      const sweep = (workflowId: string) => api.temporal.client.workflow.start('sweepJobs', { taskQueue: 'sheaf', workflowId, args: [] });
      const held = await db.transaction().execute(async (trx) => {
        await trx.selectFrom('job').select('id').where('id', '=', job.id).forUpdate().execute();
        const sweeping = await sweep('sweep-held');
        expect(await sweeping.result().catch((error: unknown) => error)).to.be.instanceOf(WorkflowFailedError);
        return await sweeping.fetchHistory();
      });
      const steps = held.events?.flatMap(({ activityTaskScheduledEventAttributes: step }) => step?.activityType?.name ?? []);
      expect(steps).to.deep.equal(['takeBackLost', 'startMissing']);
      await (await sweep('sweep-free')).result();
      const { status } = await db.selectFrom('job').select('status').where('id', '=', job.id).executeTakeFirstOrThrow();
      expect(status).to.equal('failed');
    }));

  it('stops an attempt that it presumed lost, and the next one succeeds', () =>
    withoutSweeps(api, async () => {
      let asked = 0;
      ai.behave('summarize', (call) => (++asked === 1 ? undefined : goodAnswer(call)));
      const { id } = await createJob(api, tenant, summary);
      await until(() => asked === 1);
      const { db } = api.database;
      await db
        .updateTable('job')
        .set({ started_at: new Date(0) })
        .where('id', '=', id)
        .execute();

      const swept = await api.temporal.client.workflow.execute('sweepJobs', { taskQueue: 'sheaf', workflowId: 'sweep-1', args: [] });

      expect(swept).to.deep.equal({ requeued: 1, failed: 0, restarted: 0 });
      // The zombie still waits for its answer; its workflow is told to go on by nobody but the row.
      await api.temporal.client.workflow.getHandle(`job-${id}`).terminate('a test');
      await until(() => ai.running === 0);
      await db
        .updateTable('job')
        .set({ created_at: new Date(0), next_attempt_at: new Date(0) })
        .where('id', '=', id)
        .execute();
      await api.temporal.client.workflow.execute('sweepJobs', { taskQueue: 'sheaf', workflowId: 'sweep-2', args: [] });
      expect(await api.jobIn(tenant.owner.token, id, ['succeeded'])).to.include({ attempts: 2 });
      expect(await amountsOf(api, id)).to.deep.equal([5]);
    }));

  it('runs by itself once a minute', async () => {
    const { schedule, policies, state } = await api.temporal.client.schedule
      .getHandle('sweep-jobs')
      .describe()
      .then(({ spec, policies, state }) => ({ schedule: spec, policies, state }));
    expect(schedule.intervals?.[0]?.every).to.equal(60_000);
    expect(policies.overlap).to.equal('SKIP');
    expect(state.paused).to.equal(false);
  });
});
