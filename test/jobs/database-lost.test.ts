import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { Tenant } from '../support/api.ts';
import { goodAnswer } from '../support/fake-ai.ts';
import { amountsOf, createJob, errorsOf, expectSoundLedger, historyOf, summary } from '../support/jobs.ts';
import { until } from '../support/processes.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { withTimes } from '../support/times.ts';
import { useApi } from '../support/use-api.ts';

describe('While the database is away', () => {
  const { api, ai } = useApi({ process: true, ai: true, env: withTimes({ jobRetryDelays: [200] }, { WORKER_CONCURRENCY: '4' }) });
  let tenant: Tenant;
  let proxy: TcpProxy;
  let pid: number | undefined;

  before(async () => {
    const url = new URL(api.database.url);
    proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
    url.hostname = '127.0.0.1';
    url.port = String(proxy.port);
    await api.stack.restart('api', { DATABASE_URL: url.href });
    pid = api.stack.pid('api');
    tenant = await api.createTenant();
  });
  after(async () => {
    await proxy.stop();
  });
  afterEach(async () => {
    ai.behave('summarize');
    expect(api.stack.pid('api'), 'the process ended').to.equal(pid);
    await expectSoundLedger(api);
    // A request whose connection broke answers 500, and the log says why.
    expect(errorsOf(api, 'api', ['internal error'])).to.deep.equal([]);
  });

  const job = (id: string, statuses: string[]) => api.jobIn(tenant.owner.token, id, statuses);
  const outage = async (ms: number) => {
    await proxy.cut();
    await delay(ms);
    await proxy.mend();
  };

  it('a job that finishes meanwhile loses that attempt, and is done by the next one', async () => {
    const free = Promise.withResolvers<void>();
    let asked = 0;
    ai.behave('summarize', async (call) => {
      if (++asked === 1) await free.promise;
      return goodAnswer(call);
    });
    const { id } = await createJob(api, tenant, summary);
    await until(() => ai.callsOf(id) === 1);
    await proxy.cut();
    free.resolve();
    // Its result cannot be stored, which it is told as soon as it tries.
    const workflow = api.temporal.client.workflow.getHandle(`job-${id}`);
    const hasFailed = async () => (await workflow.describe()).raw.pendingActivities?.some(({ lastFailure }) => lastFailure) === true;
    await until(hasFailed).finally(proxy.mend);

    const ended = await job(id, ['succeeded', 'failed']);

    expect(ended).to.include({ status: 'succeeded', attempts: 2 });
    expect(await amountsOf(api, id)).to.deep.equal([5]);
    expect((await historyOf(api, id))[0]).to.include({ type: 'ActivityTaskCompleted', lastFailure: 'internal_error' });
  });

  it('nothing is lost of what many jobs do when every connection breaks again and again', async () => {
    const created: string[] = [];
    const answers: Promise<unknown>[] = [];
    const body = { organizationId: tenant.organizationId, ...summary, maxAttempts: 10 };
    const create = async () => {
      const answer = await api.request('POST', '/api/v1/jobs', { token: tenant.owner.token, body }).catch(() => undefined);
      if (answer?.status === 200) created.push(answer.body.id);
    };
    let broken = 0;
    const creating = (async () => {
      while (broken < 5) {
        answers.push(create());
        await delay(50);
      }
    })();
    for (; broken < 5; broken++) {
      await until(() => created.length > 3 * broken);
      await outage(150);
    }
    await creating;
    await Promise.all(answers);

    const { db } = api.database;
    await until(async () => {
      const left = await db.selectFrom('job').select('id').where('status', 'in', ['queued', 'running']).execute();
      return left.length === 0;
    });

    for (const id of created) expect((await job(id, ['succeeded'])).result.summary).to.equal('Short.');
    const statuses = await db.selectFrom('job').select('status').distinct().execute();
    expect(statuses).to.deep.equal([{ status: 'succeeded' }]);
  });
});
