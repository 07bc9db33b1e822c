import { expect } from 'chai';
import { aiError } from '../support/fake-ai.ts';
import { amountsOf, createJob, expectCleanLog, expectSoundLedger, historyOf, summary } from '../support/jobs.ts';
import { nightly } from '../support/nightly.ts';
import { until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

// Takes more than two minutes: the waits are the real ones.
describe('The waits between attempts', () => {
  const { api, ai, tenant } = useApi({ ai: true });

  nightly('are 10, 30 and 90 seconds by default, then the job fails', async function () {
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
    await until(() => ai.callsOf(id) === 4, 110_000);
    const ended = await api.jobIn(token, id, ['failed']);

    expect(ended).to.include({ attempts: 4, maxAttempts: 4, nextAttemptAt: null });
    expect(await amountsOf(api, id)).to.deep.equal([5, -5]);
    expect(await historyOf(api, id)).to.deep.equal([
      { type: 'ActivityTaskFailed', activity: 'runJobAttempt', attempts: 4, lastFailure: 'ai_failed', failure: 'ai_failed' },
      { type: 'WorkflowExecutionFailed', failure: 'ai_failed' },
    ]);
    await expectSoundLedger(api);
    expectCleanLog(api);
  });

  it('are 90 seconds at the most, whatever a provider asks for', async () => {
    const { token } = tenant.owner;
    for (const [asked, delayMs] of [
      [5, 10_000],
      [60, 60_000],
      [3_600, 90_000],
      [new Date(Date.now() + 3_600_000).toUTCString(), 90_000],
    ] as const) {
      ai.behave('summarize', () => aiError(503, 'busy', { 'retry-after': String(asked) }));
      const { id } = await createJob(api, tenant, summary);
      const waiting = await waitingAfter(id, 1, 30_000);
      expect(Date.parse(waiting.nextAttemptAt) - Date.parse(waiting.updatedAt)).to.be.within(delayMs - 10, delayMs + 10);
      await api.request('POST', `/api/v1/jobs/${id}/cancel`, { token });
    }
  });

  /** The job while it waits after an attempt. */
  async function waitingAfter(id: string, attempts: number, timeoutMs: number): Promise<any> {
    let waiting: any;
    await until(() => ai.callsOf(id) === attempts, timeoutMs);
    await until(async () => {
      waiting = await api.jobIn(tenant.owner.token, id, ['queued'], timeoutMs);
      return waiting.attempts === attempts;
    }, timeoutMs);
    return waiting;
  }
});
