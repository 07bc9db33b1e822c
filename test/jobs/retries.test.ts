import { expect } from 'chai';
import { type AiAnswer, aiError, goodAnswer } from '../support/fake-ai.ts';
import { amountsOf, createJob, historyOf, summary } from '../support/jobs.ts';
import { until } from '../support/processes.ts';
import { withTimes } from '../support/times.ts';
import { useApi } from '../support/use-api.ts';

const retryDelayMs = 200;
const longestDelayMs = 400;
// Beyond the second attempt there is no wait, so that ten attempts are soon over.
const jobRetryDelays = [retryDelayMs, longestDelayMs, 0];

describe('A job whose attempts fail', () => {
  const { api, ai, tenant } = useApi({
    ai: true,
    env: withTimes({ jobRetryDelays }),
    check: 'after each test',
  });
  afterEach(() => {
    for (const operation of ['extract', 'summarize', 'embed'] as const) ai.behave(operation);
  });

  const job = (id: string, statuses: string[]) => api.jobIn(tenant.owner.token, id, statuses);

  it('is tried again, shows when, and succeeds with what the last attempt made', async () => {
    let asked = 0;
    ai.behave('summarize', (call) => (++asked < 3 ? aiError(500, 'internal_error') : goodAnswer(call)));
    const { id } = await createJob(api, tenant, summary);

    const ended = await job(id, ['succeeded']);

    expect(ended).to.include({ attempts: 3, error: null, nextAttemptAt: null });
    expect(ended.result.summary).to.equal('Short.');
    expect(await amountsOf(api, id)).to.deep.equal([5]);
    expect(await historyOf(api, id)).to.deep.equal([
      { type: 'ActivityTaskCompleted', activity: 'runJobAttempt', attempts: 3, lastFailure: 'ai_failed' },
      { type: 'WorkflowExecutionCompleted' },
    ]);
  });

  for (const maxAttempts of [1, 10]) {
    it(`fails after its last of ${maxAttempts} attempts and gives its credits back`, async () => {
      ai.behave('summarize', () => aiError(500, 'internal_error'));
      const { id } = await createJob(api, tenant, { ...summary, maxAttempts });

      const ended = await job(id, ['failed']);

      expect(ended).to.include({ attempts: maxAttempts, maxAttempts, nextAttemptAt: null, result: null });
      expect(ended.error).to.deep.equal({ code: 'ai_failed', message: 'The AI service failed.' });
      expect(ended.finishedAt).to.be.a('string');
      expect(ai.callsOf(id)).to.equal(maxAttempts);
      expect(await amountsOf(api, id)).to.deep.equal([5, -5]);
      const [attempts, end] = await historyOf(api, id);
      expect(attempts).to.include({ type: 'ActivityTaskFailed', failure: 'ai_failed' });
      expect(attempts?.attempts ?? 1).to.equal(maxAttempts);
      expect(end).to.deep.equal({ type: 'WorkflowExecutionFailed', failure: 'ai_failed' });
    });
  }

  const garbage: Record<string, AiAnswer> = {
    'a page of HTML': { body: '<html>hello</html>', headers: { 'content-type': 'text/html' } },
    'half a JSON document': { body: '{"model":"fa' },
    'another shape': { body: { vectors: 'none' } },
    'too few vectors': { body: { model: 'fake', dimensions: 2, vectors: [[0.6, 0.8]] } },
    'a vector of another length': {
      body: {
        model: 'fake',
        dimensions: 2,
        vectors: [
          [0.6, 0.8],
          [1, 0, 0],
        ],
      },
    },
    'numbers that cannot be': { body: { model: 'fake', dimensions: -2, vectors: [[], []] } },
    'no content': { status: 204, body: '' },
    'text that cannot be stored': {
      body: {
        model: 'fa\u0000ke',
        dimensions: 2,
        vectors: [
          [0.6, 0.8],
          [0.6, 0.8],
        ],
      },
    },
  };
  it('is tried again when the AI service answers what cannot be used', async () => {
    ai.behave('embed', ({ body }) => garbage[body.texts[0]]);
    const create = (what: string) => createJob(api, tenant, { kind: 'text.embed', texts: [what, 'two'], maxAttempts: 2 });
    const jobs = await Promise.all(Object.keys(garbage).map(async (what) => ({ what, id: (await create(what)).id })));
    for (const { what, id } of jobs) {
      const ended = await job(id, ['failed']);
      expect(ended.attempts, what).to.equal(2);
      expect(ended.error.code, what).to.equal('ai_unusable_answer');
      expect(await amountsOf(api, id), what).to.deep.equal([1, -1]);
    }
  });

  it('is tried again when a summary cannot be stored, and its text stays out of the log', async () => {
    ai.behave('summarize', () => ({ body: { summary: 'a secret \ud800', sentences: 1, model: 'fake', characters: 3 } }));
    const { id } = await createJob(api, tenant, { ...summary, maxAttempts: 1 });
    expect((await job(id, ['failed'])).error.code).to.equal('ai_unusable_answer');
    expect(api.stack.readLog('api')).not.to.include('a secret');
  });

  it('is tried again when the model changes between two batches, and stores no chunk', async () => {
    const { id: documentId } = await api.upload(tenant, { bytes: 'A sentence of some length. '.repeat(2_000) });
    ai.behave('embed', (call) => {
      const dimensions = call.body.texts.length === 32 ? 2 : 3;
      return { body: { model: 'fake', dimensions, vectors: call.body.texts.map(() => Array(dimensions).fill(0.5)) } };
    });
    const { id } = await createJob(api, tenant, { kind: 'document.index', documentId, maxAttempts: 1 });
    expect((await job(id, ['failed'])).error.code).to.equal('model_changed');
    expect(await api.database.db.selectFrom('chunk').selectAll().where('document_id', '=', documentId).execute()).to.deep.equal([]);
  });

  it('is tried again when the connection breaks in the middle of an answer', async () => {
    ai.behave('summarize', () => ({ body: '{"summary":', cut: true }));
    const { id } = await createJob(api, tenant, { ...summary, maxAttempts: 2 });
    const ended = await job(id, ['failed']);
    expect(ended).to.include({ attempts: 2 });
    expect(ended.error).to.deep.equal({ code: 'ai_unreachable', message: 'The AI service could not be reached.' });
  });

  it('tells the tenant nothing of a deployment whose token is wrong', async () => {
    ai.behave('summarize', () => ({ status: 401, body: { error: { code: 'unauthorized', message: 'The service token is wrong.' } } }));
    const { id } = await createJob(api, tenant, { ...summary, maxAttempts: 1 });
    const ended = await job(id, ['failed']);
    expect(ended.error).to.deep.equal({ code: 'ai_unavailable', message: 'The AI service is not available just now.' });
  });
});

describe('A job between two attempts', () => {
  // So long that a test sees it, also on a busy machine.
  const longestMs = 6_000;
  const timeoutMs = 5_000;
  const { api, ai, tenant } = useApi({
    ai: true,
    env: withTimes({ jobRetryDelays: [4_000, longestMs] }, { JOB_TIMEOUT_MS: String(timeoutMs) }),
    check: 'after each test',
  });
  afterEach(() => ai.behave('summarize'));

  const job = (id: string, statuses: string[]) => api.jobIn(tenant.owner.token, id, statuses);

  it('is stopped at the timeout counted from the claim, and tried again', async () => {
    let asked = 0;
    ai.behave('summarize', (call) => (++asked === 1 ? undefined : goodAnswer(call)));
    const { id } = await createJob(api, tenant, summary);

    const waiting = await untilWaiting(id);

    expect(waiting.error).to.deep.equal({ code: 'timeout', message: 'The attempt took too long.' });
    expect(Date.parse(waiting.updatedAt) - Date.parse(waiting.startedAt)).to.be.within(timeoutMs, 2 * timeoutMs - 100);
    const ended = await job(id, ['succeeded']);
    expect(ended).to.include({ attempts: 2 });
    expect(Date.parse(ended.startedAt)).to.be.at.least(Date.parse(waiting.nextAttemptAt));
    expect((await historyOf(api, id))[0]).to.include({ attempts: 2, lastFailure: 'timeout' });
  });

  /** The job, which shows why it waits and until when. */
  async function untilWaiting(id: string): Promise<any> {
    let shown: any;
    await until(async () => {
      shown = await job(id, ['queued', 'running']);
      return shown.nextAttemptAt !== null;
    });
    return shown;
  }
});
