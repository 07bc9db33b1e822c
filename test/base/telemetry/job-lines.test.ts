import { expect } from 'chai';
import type { ServiceName } from '../../../ops/local/stack.ts';
import { aiError, goodAnswer } from '../../support/fake-ai.ts';
import { createJob, resultOf, summary } from '../../support/jobs.ts';
import { until } from '../../support/processes.ts';
import { withTimes } from '../../support/times.ts';
import { useApi } from '../../support/use-api.ts';

/** Lines of the process, which belong to no workflow. The worker begins again until the API has marked the store of a new deployment. */
const ofProcess = ['worker running', 'the workers are not running; they begin again'];

describe('The log of a worker', () => {
  const services: ServiceName[] = ['api', 'worker'];
  const { api, ai, tenant } = useApi({
    ai: true,
    services,
    env: withTimes({ jobRetryDelays: [50] }, { LOG_LEVEL: 'trace', WORKER_CONCURRENCY: '1' }),
    check: 'at the end',
  });
  afterEach(() => {
    ai.behave('summarize');
    ai.behave('embed');
  });

  /** Without the last line, of which only a part may be written. */
  const lines = (): any[] =>
    api.stack
      .readLog('worker')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const linesOf = (jobId: string) => lines().filter((line) => JSON.stringify(line).includes(jobId));
  const end = async (id: string, status: string) => {
    await api.jobIn(tenant.owner.token, id, [status]);
    await resultOf(api, id).catch(() => undefined);
  };

  /** Every line that has to do with the job names it and its workflow; and there is one for each activity. */
  async function expectNamed(jobId: string, activities: string[]): Promise<any[]> {
    const found = () => linesOf(jobId);
    const seen = () => new Set(found().map((line) => line.activityType ?? line.activity));
    await until(() => activities.every((activity) => seen().has(activity)));
    for (const line of found()) expect(line, JSON.stringify(line)).to.include({ jobId, workflowId: `job-${jobId}` });
    return found();
  }

  it('names job and workflow on each line of a job that succeeds, of every kind', async () => {
    const { id: documentId } = await api.upload(tenant, { bytes: 'A text about bees. It has two sentences.' });
    const jobs = [
      summary,
      { kind: 'text.embed', texts: ['one'] },
      ...['document.extract', 'document.summarize', 'document.index'].map((kind) => ({ kind, documentId })),
    ];
    for (const fields of jobs) {
      const { id } = await createJob(api, tenant, fields);
      await end(id, 'succeeded');
      await expectNamed(id, ['runJobAttempt']);
    }
  });

  it('names them on each line of a job that is tried again, fails, or is canceled', async () => {
    let calls = 0;
    ai.behave('summarize', (call) => (++calls === 1 ? aiError(500, 'broken') : goodAnswer(call)));
    const { id: tried } = await createJob(api, tenant, summary);
    await end(tried, 'succeeded');
    expect((await expectNamed(tried, ['runJobAttempt'])).map(({ msg }) => msg)).to.include('the attempt failed');

    ai.behave('summarize', () => aiError(413, 'text_too_long'));
    const { id: failed } = await createJob(api, tenant, summary);
    await end(failed, 'failed');
    expect((await expectNamed(failed, ['runJobAttempt'])).map(({ msg }) => msg)).to.include('the attempt failed');

    const free = Promise.withResolvers<void>();
    ai.behave('embed', async (call) => {
      await free.promise;
      return goodAnswer(call);
    });
    const { id: holding } = await createJob(api, tenant, { kind: 'text.embed', texts: ['hold'] });
    await until(() => ai.callsOf(holding) === 1);
    const { id: canceled } = await createJob(api, tenant, summary);
    await api.request('POST', `/api/v1/jobs/${canceled}/cancel`, { token: tenant.owner.token });
    await end(canceled, 'canceled');
    free.resolve();
    await end(holding, 'succeeded');
    await expectNamed(canceled, ['settleAttempt']);
  });

  it('has no other line of its own without a workflow than those of the process', () => {
    // Temporal's SDK tells of its workers and connections as it pleases.
    const own = lines().filter(({ sdkComponent }) => sdkComponent === undefined);
    const nameless = own.filter(({ workflowId, msg }) => !workflowId && !ofProcess.includes(msg));
    expect(nameless.map((line) => JSON.stringify(line))).to.deep.equal([]);
    const jobs = lines().filter(({ workflowId }) => workflowId?.startsWith('job-'));
    expect(jobs.length).to.be.above(0);
    for (const line of jobs) expect(line.jobId, JSON.stringify(line)).to.equal(line.workflowId.slice('job-'.length));
  });
});
