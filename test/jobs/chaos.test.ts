import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { aiError, answerLate, goodAnswer } from '../support/fake-ai.ts';
import { amountsOf, errorsOf, expectSoundLedger, summary } from '../support/jobs.ts';
import { nightly } from '../support/nightly.ts';
import { until } from '../support/processes.ts';
import { withTimes } from '../support/times.ts';
import { useApi } from '../support/use-api.ts';

const jobs = 60;

describe('Processes that are killed again and again', () => {
  const { api, ai, tenant } = useApi({
    process: true,
    ai: true,
    services: ['api', 'worker'],
    env: withTimes({ jobRetryDelays: [100] }, { WORKER_CONCURRENCY: '4' }),
  });

  /** Asks until it is answered, with the same key, as a careful client does. */
  async function createOnce(key: number, body: object): Promise<string> {
    for (;;) {
      const headers = { 'idempotency-key': `job-${key}` };
      const answer = await api.request('POST', '/api/v1/jobs', { token: tenant.owner.token, body, headers }).catch(() => undefined);
      if (answer?.status === 200) return answer.body.id;
      await delay(200);
    }
  }

  async function killAndStart(service: 'api' | 'worker'): Promise<void> {
    await api.stack.kill(service, 'SIGKILL');
    await api.stack.start(service);
  }

  nightly('lose no job, do none twice, and leave the ledger exact', async () => {
    const { organizationId } = tenant;
    const { id: documentId } = await api.upload(tenant, { bytes: 'Some text of a document.' });
    let asked = 0;
    const flaky = answerLate(200, (call) => (++asked % 7 === 0 ? aiError(503, 'busy') : goodAnswer(call)));
    for (const operation of ['extract', 'summarize', 'embed'] as const) ai.behave(operation, flaky);

    const kinds = [
      { kind: 'document.index', documentId },
      { organizationId, ...summary },
      { organizationId, kind: 'text.embed', texts: ['a text'] },
    ];
    const creating = Array.from({ length: jobs }, async (_, n) => {
      await delay(n * 100);
      const id = await createOnce(n, { ...kinds[n % kinds.length], maxAttempts: 10 });
      if (n % 5 === 0) await api.request('POST', `/api/v1/jobs/${id}/cancel`, { token: tenant.owner.token }).catch(() => undefined);
      return id;
    });
    await killAndStart('worker');
    await killAndStart('api');
    await killAndStart('worker');
    const ids = await Promise.all(creating);

    const { db } = api.database;
    await until(async () => {
      const left = await db.selectFrom('job').select('id').where('status', 'in', ['queued', 'running']).execute();
      return left.length === 0;
    }, 90_000);

    expect(new Set(ids).size).to.equal(jobs);
    const rows = await db.selectFrom('job').selectAll().execute();
    expect(rows.map(({ id }) => id).sort()).to.deep.equal([...ids].sort());
    for (const { id, status, result, attempts, credits } of rows) {
      expect(status, id).to.be.oneOf(['succeeded', 'canceled']);
      expect(attempts).to.be.at.most(10);
      if (status === 'succeeded') expect(result).to.be.an('object');
      expect(await amountsOf(api, id)).to.deep.equal(status === 'succeeded' ? [credits] : [credits, -credits]);
    }
    expect(await db.selectFrom('chunk').select('index').where('document_id', '=', documentId).execute()).to.deep.equal([{ index: 0 }]);
    await expectSoundLedger(api);
    await until(async () => (await db.selectFrom('outbox').select('id').execute()).length === 0);
    for (const service of ['api', 'worker'] as const) expect(errorsOf(api, service), service).to.deep.equal([]);
  }).timeout(150_000);
});
