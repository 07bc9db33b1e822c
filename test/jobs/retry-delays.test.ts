import { expect } from 'chai';
import { startTestApi, type Tenant, type TestApi } from '../support/api.ts';
import { aiError, type FakeAi, startFakeAi } from '../support/fake-ai.ts';
import { amountsOf, createJob, expectCleanLog, expectSoundLedger, historyOf, summary } from '../support/jobs.ts';

// Takes more than two minutes: the waits are the real ones.
describe('The waits between attempts', () => {
  let api: TestApi;
  let ai: FakeAi;
  let tenant: Tenant;

  before(async () => {
    ai = await startFakeAi();
    api = await startTestApi({ env: ai.env });
    tenant = await api.createTenant();
  });
  after(async () => {
    await api.stop();
    await ai.stop();
  });

  it('are 10, 30 and 90 seconds by default, then the job fails', async function () {
    this.timeout(200_000);
    ai.behave('summarize', () => aiError(500, 'internal_error'));
    const { token } = tenant.owner;
    const { id } = await createJob(api, tenant, summary);

    for (const [attempts, delayMs] of [10_000, 30_000, 90_000].entries()) {
      const waiting = await waitingAfter(id, attempts + 1, delayMs + 20_000);
      expect(Date.parse(waiting.nextAttemptAt) - Date.parse(waiting.updatedAt)).to.be.within(delayMs - 10, delayMs + 10);
      expect(waiting.error).to.deep.equal({ code: 'ai_failed', message: 'The AI service failed.' });
      expect(await amountsOf(api, id)).to.deep.equal([5]);
    }
    const ended = await api.jobIn(token, id, ['failed'], 110_000);

    expect(ended).to.include({ attempts: 4, maxAttempts: 4, nextAttemptAt: null });
    expect(await amountsOf(api, id)).to.deep.equal([5, -5]);
    const attempt = { type: 'ActivityTaskFailed', activity: 'runJobAttempt', failure: 'ai_failed' };
    const settled = { type: 'ActivityTaskCompleted', activity: 'settleAttempt' };
    const wait = (timerMs: number) => ({ type: 'TimerStarted', timerMs });
    expect(await historyOf(api, id)).to.deep.equal([
      ...[attempt, settled, wait(10_000)],
      ...[attempt, settled, wait(30_000)],
      ...[attempt, settled, wait(90_000)],
      ...[attempt, settled],
      { type: 'WorkflowExecutionFailed', failure: 'ai_failed' },
    ]);
    await expectSoundLedger(api);
    expectCleanLog(api);
  });

  it('are 90 seconds at the most, whatever a provider asks for', async function () {
    this.timeout(60_000);
    const { token } = tenant.owner;
    for (const [asked, delayMs] of [
      [5, 10_000],
      [60, 60_000],
      [3_600, 90_000],
    ] as const) {
      ai.behave('summarize', () => aiError(503, 'busy', { 'retry-after': String(asked) }));
      const { id } = await createJob(api, tenant, summary);
      const waiting = await waitingAfter(id, 1, 10_000);
      expect(Date.parse(waiting.nextAttemptAt) - Date.parse(waiting.updatedAt)).to.be.within(delayMs - 10, delayMs + 10);
      await api.request('POST', `/api/v1/jobs/${id}/cancel`, { token });
    }
  });

  /** The job while it waits after an attempt. */
  async function waitingAfter(id: string, attempts: number, timeoutMs: number): Promise<any> {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const waiting = await api.jobIn(tenant.owner.token, id, ['queued'], timeoutMs);
      if (waiting.attempts === attempts) return waiting;
      if (Date.now() > deadline) throw new Error(`job ${id} is not after attempt ${attempts}: ${JSON.stringify(waiting)}`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
});
