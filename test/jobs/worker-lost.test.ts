import { expect } from 'chai';
import type { ServiceName } from '../../ops/local/stack.ts';
import { amountsOf, createJob, historyOf, summary } from '../support/jobs.ts';
import { nightlySuite } from '../support/nightly.ts';
import { until } from '../support/processes.ts';
import { withTimes } from '../support/times.ts';
import { useApi } from '../support/use-api.ts';

for (const { title, services, suite } of [
  { title: 'A worker of its own', services: ['api', 'worker'] as ServiceName[], suite: describe },
  { title: 'The worker inside the API', services: ['api'] as ServiceName[], suite: nightlySuite },
]) {
  const victim: ServiceName = services.at(-1) ?? 'api';

  suite(`${title}, killed in the middle of its jobs`, () => {
    const { api, ai, tenant } = useApi({
      process: true,
      ai: true,
      services,
      env: withTimes({ jobRetryDelays: [200] }),
      check: 'at the end',
    });
    let documentId: string;
    const ids = { index: '', once: '' };

    before(async () => {
      documentId = (await api.upload(tenant, { bytes: 'Indexed text of a document.' })).id;
      ai.behave('embed', () => undefined);
      ai.behave('summarize', () => undefined);
      ids.index = (await createJob(api, tenant, { kind: 'document.index', documentId })).id;
      ids.once = (await createJob(api, tenant, { ...summary, maxAttempts: 1 })).id;
      await until(() => ai.callsOf(ids.index) === 2 && ai.callsOf(ids.once) === 1);

      await api.stack.kill(victim, 'SIGKILL');
      // Asked before it starts again, which may take longer than Temporal waits for its heartbeat.
      const row = await api.database.db.selectFrom('job').select(['status', 'attempts']).where('id', '=', ids.index).executeTakeFirst();
      expect(row).to.deep.equal({ status: 'running', attempts: 1 });
      ai.behave('embed');
      ai.behave('summarize');
      await api.stack.start(victim);
    });

    it('costs that attempt and no more: the job succeeds with one effect', async () => {
      const ended = await api.jobIn(tenant.owner.token, ids.index, ['succeeded']);

      expect(ended).to.include({ attempts: 2, error: null });
      expect(await amountsOf(api, ids.index)).to.deep.equal([2]);
      const chunks = await api.database.db.selectFrom('chunk').select('index').where('document_id', '=', documentId).execute();
      expect(chunks).to.deep.equal([{ index: 0 }]);
      const [step] = await historyOf(api, ids.index);
      expect(step).to.deep.equal({ type: 'ActivityTaskCompleted', activity: 'runJobAttempt', attempts: 2, lastFailure: 'timed out' });
    });

    it('fails a job that had only one attempt, and gives its credits back', async () => {
      const ended = await api.jobIn(tenant.owner.token, ids.once, ['failed']);
      expect(ended.error).to.deep.equal({ code: 'worker_lost', message: 'The worker was lost during the attempt.' });
      expect(ended.attempts).to.equal(1);
      expect(ai.callsOf(ids.once)).to.equal(1);
      expect(await amountsOf(api, ids.once)).to.deep.equal([5, -5]);
    });
  });
}
