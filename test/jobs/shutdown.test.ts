import { expect } from 'chai';
import { goodAnswer, holdCalls } from '../support/fake-ai.ts';
import { amountsOf, createJob, historyOf, summary } from '../support/jobs.ts';
import { nightly } from '../support/nightly.ts';
import { until } from '../support/processes.ts';
import { withTimes } from '../support/times.ts';
import { useApi } from '../support/use-api.ts';

/** So long that a busy machine stores within it what is answered at its beginning. */
const graceMs = 8_000;

for (const service of ['worker', 'api'] as const) {
  describe(`SIGTERM to ${service === 'api' ? 'the API with its worker' : 'a worker'}, while a job runs`, () => {
    const { api, ai, tenant } = useApi({
      process: true,
      ai: true,
      services: service === 'api' ? ['api'] : ['api', 'worker'],
      env: withTimes({ jobRetryDelays: [200] }, { WORKER_SHUTDOWN_GRACE_MS: String(graceMs), WORKER_CONCURRENCY: '1' }),
      check: 'at the end',
    });
    beforeEach(async () => {
      if (!api.stack.pid(service)) await api.stack.start(service);
    });

    const rowOf = (id: string) => api.database.db.selectFrom('job').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

    /** Whether a worker has taken the job's attempt, to begin it as soon as it has a place. */
    const isWithWorker = async (id: string) => {
      const described = await api.temporal.client.workflow
        .getHandle(`job-${id}`)
        .describe()
        .catch(() => undefined);
      return described?.raw.pendingActivities?.some(({ lastStartedTime }) => lastStartedTime) ?? false;
    };

    /** Sends SIGTERM and returns how long the process took to go. */
    async function terminate(): Promise<number> {
      const startedAt = performance.now();
      const exit = await api.stack.kill(service, 'SIGTERM');
      expect(exit).to.deep.equal({ code: 0, signal: null });
      return performance.now() - startedAt;
    }

    nightly('lets the attempt finish within its grace, and begins no other', async () => {
      const letGo = holdCalls(ai, 'summarize');
      const { id } = await createJob(api, tenant, summary);
      await until(() => ai.callsOf(id) === 1);
      const behind = await createJob(api, tenant, { kind: 'text.embed', texts: ['waits for the place'], maxAttempts: 1 });
      await until(() => isWithWorker(behind.id));

      const stops = () => api.stack.readLog(service).split('"msg":"stopping"').length;
      const before = stops();
      const gone = terminate();
      await until(() => stops() > before);
      letGo();
      await gone;

      expect(await rowOf(id)).to.include({ status: 'succeeded', attempts: 1 });
      expect(await rowOf(behind.id)).to.include({ status: 'queued', attempts: 0 });
      await api.stack.start(service);
      expect((await historyOf(api, id)).at(-1)).to.deep.equal({ type: 'WorkflowExecutionCompleted' });
      expect(await amountsOf(api, id)).to.deep.equal([5]);
      expect(await api.jobIn(tenant.owner.token, behind.id, ['succeeded'])).to.include({ attempts: 1 });
    });

    nightly('hands back what takes longer, and the job goes on elsewhere', async () => {
      let asked = 0;
      ai.behave('summarize', (call) => (++asked === 1 ? undefined : goodAnswer(call)));
      const { id } = await createJob(api, tenant, summary);
      await until(() => ai.callsOf(id) === 1);

      expect(await terminate()).to.be.at.least(graceMs - 500);
      await api.stack.start(service);

      expect(await api.jobIn(tenant.owner.token, id, ['succeeded'])).to.include({ attempts: 2 });
      expect((await historyOf(api, id))[0]).to.include({ attempts: 2, lastFailure: 'worker_stopped' });
      expect(await amountsOf(api, id)).to.deep.equal([5]);
    });
  });
}
