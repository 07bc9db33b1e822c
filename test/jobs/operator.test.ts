import { expect } from 'chai';
import { aiError, goodAnswer, holdCalls } from '../support/fake-ai.ts';
import { amountsOf, createJob, insertJobOnly, summary } from '../support/jobs.ts';
import { nightly } from '../support/nightly.ts';
import { until } from '../support/processes.ts';
import { staysTrue } from '../support/stays-true.ts';
import { withoutSweeps } from '../support/sweeps.ts';
import { withTimes } from '../support/times.ts';
import { useApi } from '../support/use-api.ts';

describe('What an operator does to the workflow of a job', () => {
  const { api, ai, tenant } = useApi({ ai: true, env: withTimes({ jobRetryDelays: [100, 60_000] }), check: 'after each test' });
  afterEach(() => {
    ai.behave('summarize');
  });

  const job = (id: string, statuses: string[]) => api.jobIn(tenant.owner.token, id, statuses);
  const rowOf = (id: string) => api.database.db.selectFrom('job').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const workflow = (id: string) => api.temporal.client.workflow.getHandle(`job-${id}`);

  /** Waits until the attempt under way has heard that its workflow is gone. */
  const untilOrphaned = (id: string) =>
    until(() =>
      api.stack
        .readLog('api')
        .split('\n')
        .some((line) => line.includes('the workflow of an attempt is gone') && line.includes(id)),
    );

  /** Resets the workflow to before its first attempt, as `temporal workflow reset` does, and waits for the new run's end. */
  async function reset(id: string): Promise<void> {
    const { namespace, client } = api.temporal;
    const { runId } = await workflow(id).describe();
    const { events } = await workflow(id).fetchHistory();
    // As a rule the fourth event; on a busy machine a task may have timed out before.
    const first = events?.find(({ workflowTaskCompletedEventAttributes: completed }) => completed)?.eventId;
    const { runId: newRunId } = await client.workflowService.resetWorkflowExecution({
      namespace,
      workflowExecution: { workflowId: `job-${id}`, runId },
      workflowTaskFinishEventId: first ?? null,
      requestId: crypto.randomUUID(),
      reason: 'a test',
    });
    expect(newRunId).not.to.equal(runId);
    await client.workflow
      .getHandle(`job-${id}`, newRunId)
      .result()
      .catch(() => undefined);
  }

  /** Creates a job whose attempt waits in the AI service until it is let go. */
  async function runningJob(fields: object = {}) {
    const letGo = holdCalls(ai, 'summarize');
    const { id } = await createJob(api, tenant, { ...summary, ...fields });
    await until(() => ai.callsOf(id) === 1);
    return { id, letGo };
  }
  const attributesOf = async (id: string) => (await workflow(id).describe()).searchAttributes;

  it('sees in JobStatus what the job does, and in ErrorCode why it failed', async () => {
    const { id, letGo } = await runningJob();
    expect((await attributesOf(id)).JobStatus).to.deep.equal(['queued']);
    await until(async () => (await attributesOf(id)).JobStatus?.[0] === 'running');
    ai.behave('summarize', () => undefined);
    letGo();
    await workflow(id).result();
    expect((await attributesOf(id)).JobStatus).to.deep.equal(['succeeded']);

    const release = Promise.withResolvers<void>();
    ai.behave('summarize', async () => {
      await release.promise;
      return aiError(500, 'internal_error', { 'retry-after': '60' });
    });
    const { id: retried } = await createJob(api, tenant, summary);
    await until(() => ai.callsOf(retried) === 1);
    await until(async () => (await attributesOf(retried)).JobStatus?.[0] === 'running');
    release.resolve();
    await until(async () => (await attributesOf(retried)).JobStatus?.[0] === 'queued');
    await api.request('POST', `/api/v1/jobs/${retried}/cancel`, { token: tenant.owner.token });

    ai.behave('summarize', () => aiError(413, 'text_too_long'));
    const { id: failed } = await createJob(api, tenant, summary);
    await job(failed, ['failed']);
    await workflow(failed)
      .result()
      .catch(() => undefined);
    expect(await attributesOf(failed)).to.deep.include({ JobStatus: ['failed'], ErrorCode: ['text_too_long'] });
  });

  for (const maxAttempts of [1, 4])
    nightly(`changes nothing by the signal jobCanceled while the row is not final (${maxAttempts} attempts)`, async () => {
      const { id, letGo } = await runningJob({ maxAttempts });
      await workflow(id).signal('jobCanceled');
      await staysTrue(async () => (await rowOf(id)).status === 'running' && ai.running === 1, 5_000);
      letGo();
      expect(await job(id, ['succeeded'])).to.include({ attempts: 1 });
      expect(ai.callsOf(id)).to.equal(1);
      expect(await workflow(id).result()).to.deep.equal({ status: 'succeeded' });
    });

  for (const [what, result] of [
    ['nothing', null],
    ['success', { status: 'succeeded' }],
    ['a failure', { status: 'failed', error: { code: 'x', message: 'x' } }],
  ] as const)
    nightly(`gives the attempt the result of ${what} by hand: the row decides, and the attempt goes on`, async () => {
      const { id, letGo } = await runningJob({ maxAttempts: 1 });
      await api.temporal.client.activity.complete({ workflowId: `job-${id}`, activityId: '1' }, result);
      await untilOrphaned(id);
      // Until the workflow has tried again, and found the job held.
      await staysTrue(async () => (await rowOf(id)).status === 'running' && ai.running === 1, 14_000);
      expect(await job(id, ['running'])).to.include({ attempts: 1 });
      letGo();
      expect(await job(id, ['succeeded'])).to.include({ attempts: 1 });
      expect(await workflow(id).result()).to.deep.equal({ status: 'succeeded' });
      expect(ai.callsOf(id)).to.equal(1);
      expect(await amountsOf(api, id)).to.deep.equal([5]);
    });

  describe('a reset', () => {
    nightly('of a job that succeeded repeats nothing', async () => {
      const { id } = await createJob(api, tenant, summary);
      await job(id, ['succeeded']);
      await workflow(id).result();
      const before = await rowOf(id);

      await reset(id);

      expect(await rowOf(id)).to.deep.equal(before);
      expect(ai.callsOf(id)).to.equal(1);
      expect(await amountsOf(api, id)).to.deep.equal([5]);
      expect((await workflow(id).describe()).status.name).to.equal('COMPLETED');
    });

    nightly('of a job that failed neither runs it again nor refunds it twice', async () => {
      ai.behave('summarize', () => aiError(413, 'text_too_long'));
      const { id } = await createJob(api, tenant, summary);
      await job(id, ['failed']);
      const before = await rowOf(id);
      ai.behave('summarize');

      await reset(id);

      expect(await rowOf(id)).to.deep.equal(before);
      expect(ai.callsOf(id)).to.equal(1);
      expect(await amountsOf(api, id)).to.deep.equal([5, -5]);
      expect((await workflow(id).describe()).status.name).to.equal('FAILED');
    });

    it('of a job that waits for its next attempt begins none before that is due', async () => {
      ai.behave('summarize', () => aiError(500, 'internal_error'));
      const { id } = await createJob(api, tenant, summary);
      await until(async () => {
        const { status, attempts } = await rowOf(id);
        return status === 'queued' && attempts === 2;
      });

      const calls = ai.callsOf(id);
      const resetting = reset(id);
      await staysTrue(() => ai.callsOf(id) === calls, 3_000);

      expect(await rowOf(id)).to.include({ status: 'queued', attempts: 2 });
      await api.request('POST', `/api/v1/jobs/${id}/cancel`, { token: tenant.owner.token });
      await resetting;
    });

    nightly('of a running job costs no attempt: the one under way goes on and its result counts', async () => {
      const { id, letGo } = await runningJob({ maxAttempts: 1 });

      const resetting = reset(id);
      await untilOrphaned(id);
      expect(await job(id, ['running'])).to.include({ attempts: 1 });
      letGo();
      expect(await job(id, ['succeeded'])).to.include({ attempts: 1 });
      await resetting;

      expect(ai.callsOf(id)).to.equal(1);
      expect(await amountsOf(api, id)).to.deep.equal([5]);
      expect(await workflow(id).result()).to.deep.equal({ status: 'succeeded' });
    });

    nightly('of a running job whose attempt then fails leaves the next one to the new run', async () => {
      const free = Promise.withResolvers<void>();
      let asked = 0;
      ai.behave('summarize', async (call) => {
        if (++asked > 1) return goodAnswer(call);
        await free.promise;
        return aiError(500, 'internal_error');
      });
      const { id } = await createJob(api, tenant, summary);
      await until(() => ai.callsOf(id) === 1);

      const { runId } = await workflow(id).describe();
      const resetting = reset(id);
      await untilOrphaned(id);
      free.resolve();
      await resetting;

      expect(await job(id, ['succeeded'])).to.include({ attempts: 2 });
      const after = await workflow(id).describe();
      expect(after.runId).to.not.equal(runId);
      expect(after.status.name).to.equal('COMPLETED');
      expect(await amountsOf(api, id)).to.deep.equal([5]);
    });
  });

  describe('a termination', () => {
    const sweep = () =>
      api.temporal.client.workflow.execute('sweepJobs', { taskQueue: 'sheaf', workflowId: `sweep-${crypto.randomUUID()}`, args: [] });
    const yesterday = new Date(Date.now() - 24 * 60 * 60 * 1_000);

    it('of a queued job is undone by the sweep', () =>
      withoutSweeps(api, async () => {
        ai.behave('summarize', () => aiError(500, 'internal_error', { 'retry-after': '60' }));
        const { id } = await createJob(api, tenant, summary);
        await until(async () => (await job(id, ['queued', 'running'])).nextAttemptAt !== null);
        await workflow(id).terminate('a test');
        ai.behave('summarize');
        // As if its wait had been over for long.
        await api.database.db.updateTable('job').set({ created_at: yesterday, next_attempt_at: yesterday }).where('id', '=', id).execute();

        expect(await sweep()).to.deep.equal({ requeued: 0, failed: 0, restarted: 1 });

        expect(await job(id, ['succeeded'])).to.include({ attempts: 2 });
        expect(await amountsOf(api, id)).to.deep.equal([5]);
        expect(await sweep()).to.deep.equal({ requeued: 0, failed: 0, restarted: 0 });
      }));

    it('of a running job lets the attempt under way finish', async () => {
      const { id, letGo } = await runningJob();
      await workflow(id).terminate('a test');
      await untilOrphaned(id);
      expect(await job(id, ['running'])).to.include({ attempts: 1 });
      letGo();
      expect(await job(id, ['succeeded'])).to.include({ attempts: 1 });
      expect(ai.callsOf(id)).to.equal(1);
      expect((await workflow(id).describe()).status.name).to.equal('TERMINATED');
    });

    it('of a running job that then fails leaves it the wait that the AI service asks for', () =>
      withoutSweeps(api, async () => {
        const free = Promise.withResolvers<void>();
        ai.behave('summarize', async () => {
          await free.promise;
          return aiError(503, 'busy', { 'retry-after': '40' });
        });
        const { id } = await createJob(api, tenant, summary);
        await until(() => ai.callsOf(id) === 1);
        await workflow(id).terminate('a test');
        await untilOrphaned(id);
        free.resolve();
        const { nextAttemptAt, updatedAt } = await job(id, ['queued']);
        expect(Date.parse(nextAttemptAt) - Date.parse(updatedAt)).to.be.within(39_000, 41_000);
      }));

    for (const [what, change] of [
      ['was taken back', { status: 'queued', claimed_by: null }],
      ['has another attempt', { attempts: 2, claimed_by: 'another' }],
    ] as const)
      nightly(`of a running job that then ${what} ends the attempt under way`, () =>
        withoutSweeps(api, async () => {
          ai.behave('summarize', () => undefined);
          const { id } = await createJob(api, tenant, summary);
          await until(() => ai.callsOf(id) === 1);
          await workflow(id).terminate('a test');
          await untilOrphaned(id);
          await api.database.db
            .updateTable('job')
            .set({ ...change, created_at: yesterday, started_at: yesterday })
            .where('id', '=', id)
            .execute();

          await until(() => ai.running === 0, 30_000);

          ai.behave('summarize');
          await sweep();
          await job(id, ['succeeded']);
          expect(ai.callsOf(id)).to.equal(2);
          expect(await amountsOf(api, id)).to.deep.equal([5]);
        }),
      );

    it('before the first attempt is undone by the sweep', () =>
      withoutSweeps(api, async () => {
        const { id } = (await insertJobOnly(api, tenant, summary)).job;
        await api.database.db.deleteFrom('outbox').where('workflow_id', '=', `job-${id}`).execute();
        await api.database.db.updateTable('job').set({ created_at: yesterday }).where('id', '=', id).execute();
        expect(await sweep()).to.deep.equal({ requeued: 0, failed: 0, restarted: 1 });
        expect(await job(id, ['succeeded'])).to.include({ attempts: 1 });
        expect(await amountsOf(api, id)).to.deep.equal([5]);
      }));
  });
});
