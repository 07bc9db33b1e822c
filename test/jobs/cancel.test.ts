import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { heldElsewhere } from '../../contract/intents/definitions.ts';
import { aiError, holdCalls } from '../support/fake-ai.ts';
import { amountsOf, createJob, creditsUsed, historyOf, insertJobOnly, resultOf, summary } from '../support/jobs.ts';
import { patientLocks, untilWaiting } from '../support/locks.ts';
import { nightly } from '../support/nightly.ts';
import { until } from '../support/processes.ts';
import { staysTrue } from '../support/stays-true.ts';
import { withTimes } from '../support/times.ts';
import { useApi } from '../support/use-api.ts';

describe('Canceling a job', () => {
  const { api, ai, tenant } = useApi({
    process: true,
    ai: true,
    // Six requests of one organization may wait for a lock at once.
    env: withTimes({ jobRetryDelays: [60_000] }, { WORKER_CONCURRENCY: '1', DATABASE_POOL_SIZE: '40', ...patientLocks }),
    check: 'after each test',
  });
  afterEach(() => {
    ai.behave('summarize');
    ai.behave('embed');
  });

  const cancel = (id: string) => api.request('POST', `/api/v1/jobs/${id}/cancel`, { token: tenant.owner.token });
  const job = (id: string, statuses: string[]) => api.jobIn(tenant.owner.token, id, statuses);
  const workflowEnd = (id: string) => resultOf(api, id).catch((error) => error.cause?.type);

  /** Cancels a job several times, all of which have begun before the first one comes through. */
  async function atOnce(id: string, times: number) {
    const { db } = api.database;
    const held = await db.startTransaction().execute();
    await held.selectFrom('job').select('id').where('id', '=', id).forUpdate().execute();
    const answers = Promise.all(Array.from({ length: times }, () => cancel(id)));
    await untilWaiting(db, times);
    await held.commit().execute();
    return answers;
  }

  /** Keeps the only place of the worker until it is let go. */
  async function holdWorker(): Promise<() => Promise<unknown>> {
    const letGo = holdCalls(ai, 'embed');
    const { id } = await createJob(api, tenant, { kind: 'text.embed', texts: ['hold'] });
    await until(() => ai.callsOf(id) === 1);
    return () => {
      letGo();
      return job(id, ['succeeded']);
    };
  }

  it('ends a queued job, which no worker begins, and gives its credits back once', async () => {
    const release = await holdWorker();
    const { id } = await createJob(api, tenant, summary);

    const canceled = await cancel(id);

    expect(canceled.status).to.equal(200);
    expect(canceled.body).to.include({ status: 'canceled', attempts: 0, nextAttemptAt: null });
    expect(canceled.body.finishedAt).to.be.a('string');
    expect(await workflowEnd(id)).to.deep.equal({ status: 'canceled' });
    expect((await cancel(id)).body.code).to.equal('CONFLICT');
    await release();
    expect(ai.callsOf(id)).to.equal(0);
    expect(await amountsOf(api, id)).to.deep.equal([5, -5]);
  });

  it('ends a job whose workflow has not taken a step yet, without an attempt that would wait for a worker', async () => {
    const env = withTimes({ jobRetryDelays: [60_000] }, { ...ai.env, WORKER_CONCURRENCY: '1' });
    try {
      await api.stack.restart('api', { ...env, WORKER_ENABLED: 'false' });
      const { id } = await createJob(api, tenant, summary);
      expect((await cancel(id)).status).to.equal(200);
      await until(async () => (await api.database.db.selectFrom('outbox').selectAll().execute()).length === 0);
      // None of its kind: an attempt would wait for one for ever.
      await api.stack.restart('api', { ...env, WORKER_JOB_KINDS: 'text.embed' });
      const workflow = api.temporal.client.workflow.getHandle(`job-${id}`);
      await until(async () => (await workflow.describe()).status.name === 'COMPLETED');
      expect((await historyOf(api, id)).filter(({ activity }) => activity === 'runJobAttempt')).to.deep.equal([]);
      expect(await amountsOf(api, id)).to.deep.equal([5, -5]);
    } finally {
      await api.stack.restart('api', env);
    }
  });

  it('ends a job that waits between two attempts, and its wait', async () => {
    ai.behave('summarize', () => aiError(500, 'internal_error'));
    const { id } = await createJob(api, tenant, summary);
    await until(async () => (await job(id, ['queued', 'running'])).nextAttemptAt !== null);

    const canceled = await cancel(id);

    expect(canceled.body).to.include({ status: 'canceled', attempts: 1, nextAttemptAt: null });
    expect(canceled.body.error.code).to.equal('ai_failed');
    const steps = await historyOf(api, id);
    expect(steps.at(-1)).to.deep.equal({ type: 'WorkflowExecutionCompleted' });
    expect(steps.filter(({ activity }) => activity === 'runJobAttempt')).to.have.lengthOf(1);
    expect(ai.callsOf(id)).to.equal(1);
    expect(await amountsOf(api, id)).to.deep.equal([5, -5]);
  });

  it('is refused while the job runs, and once it is over', async () => {
    const letGo = holdCalls(ai, 'summarize');
    const { id } = await createJob(api, tenant, summary);
    await until(() => ai.callsOf(id) === 1);

    const refused = await cancel(id);

    expect(refused.status).to.equal(409);
    expect(refused.body).to.include({ code: 'CONFLICT', defined: true });
    letGo();
    await job(id, ['succeeded']);
    expect((await cancel(id)).status).to.equal(409);
    expect(await amountsOf(api, id)).to.deep.equal([5]);
  });

  it('and a worker that claims it have one winner', async () => {
    const counts = { canceled: 0, succeeded: 0 };
    const before = await creditsUsed(api, tenant.organizationId);
    let delayMs = 20;
    for (let round = 0; round < 15; round++) {
      const { id } = await createJob(api, tenant, summary);
      await delay(delayMs);
      const answer = await cancel(id);
      const ended = await job(id, ['canceled', 'succeeded']);
      expect(ended.status).to.equal(answer.status === 200 ? 'canceled' : 'succeeded');
      if (ended.status === 'canceled') expect(ended).to.include({ attempts: 0, result: null });
      counts[ended.status as keyof typeof counts]++;
      // How long a claim takes depends on the machine: the winner gives ground, so that both stay close.
      delayMs *= ended.status === 'canceled' ? 1.3 : 0.75;
    }
    expect(counts.canceled, 'the race was always lost').to.be.greaterThan(0);
    expect(counts.succeeded, 'the race was always won').to.be.greaterThan(0);
    expect((await creditsUsed(api, tenant.organizationId)) - before).to.equal(counts.succeeded * 5);
  });

  it('many times at once succeeds once', async () => {
    const release = await holdWorker();
    for (let round = 0; round < 3; round++) {
      const { id } = await createJob(api, tenant, summary);
      const answers = await atOnce(id, 6);
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 409, 409, 409, 409, 409]);
      expect(await amountsOf(api, id)).to.deep.equal([5, -5]);
      const audited = await api.database.db.selectFrom('audit_entry').select('action').where('target_id', '=', id).execute();
      expect(audited.map(({ action }) => action).sort()).to.deep.equal(['job.cancel', 'job.create']);
    }
    await release();
  });

  describe('from Temporal', () => {
    const operatorCancels = (id: string) => api.temporal.client.workflow.getHandle(`job-${id}`).cancel();

    async function expectCanceledByOperator(id: string, attempts: number): Promise<void> {
      const failed = await job(id, ['failed']);
      expect(failed).to.include({ attempts, nextAttemptAt: null });
      expect(failed.error).to.deep.equal({ code: 'canceled_by_operator', message: 'The job was canceled by an operator.' });
      expect(await workflowEnd(id)).to.equal('canceled_by_operator');
      expect(await amountsOf(api, id)).to.deep.equal([5, -5]);
      const audited = api.database.db.selectFrom('audit_entry').select(['actor_id', 'metadata']).where('target_id', '=', id);
      const entries = await audited.where('action', '=', 'job.cancel').execute();
      expect(entries).to.deep.equal([{ actor_id: null, metadata: { kind: 'text.summarize', by: 'operator' } }]);
    }

    it('fails a queued job and gives its credits back', async () => {
      const release = await holdWorker();
      const { id } = await createJob(api, tenant, summary);
      await until(() =>
        operatorCancels(id).then(
          () => true,
          () => false,
        ),
      );
      await expectCanceledByOperator(id, 0);
      await release();
    });

    it('stops a running job and fails it', async () => {
      ai.behave('summarize', () => undefined);
      const { id } = await createJob(api, tenant, summary);
      await until(() => ai.callsOf(id) === 1);
      const before = ai.running;
      await operatorCancels(id);
      await expectCanceledByOperator(id, 1);
      expect(before).to.equal(1);
      await until(() => ai.running === 0);
    });

    nightly('waits for another run that holds the job, and fills no history meanwhile', async () => {
      const { db } = api.database;
      const { id } = (await insertJobOnly(api, tenant, summary)).job;
      const held = { status: 'running', attempts: 1, claimed_by: 'another/1', started_at: new Date() } as const;
      await db.updateTable('job').set(held).where('id', '=', id).execute();
      const handle = api.temporal.client.workflow.getHandle(`job-${id}`);
      const events = async () => (await handle.fetchHistory()).events ?? [];
      const lastFailure = async () => (await handle.describe()).raw.pendingActivities?.[0]?.lastFailure?.applicationFailureInfo?.type;
      await until(async () => (await lastFailure().catch(() => undefined)) === heldElsewhere);
      const before = (await events()).length;

      await handle.cancel();
      await until(async () => (await events()).some((event) => event.workflowExecutionCancelRequestedEventAttributes));
      await staysTrue(async () => (await events()).length <= 30, 3_000);

      expect((await events()).length).to.be.within(before + 1, 30);
      expect((await handle.describe()).status.name).to.equal('RUNNING');
      expect((await job(id, ['running'])).attempts).to.equal(1);
      await db.updateTable('job').set({ status: 'queued', claimed_by: null }).where('id', '=', id).execute();
      await expectCanceledByOperator(id, 1);
    });
  });
});
