import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
import { expect } from 'chai';
import type { JobKind } from '../../db/schema.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { goodAnswer } from '../support/fake-ai.ts';
import { amountsOf, createJob, expectSoundLedger, resultOf, summary } from '../support/jobs.ts';
import { nightly } from '../support/nightly.ts';
import { until } from '../support/processes.ts';
import { type Edit, makeRelease } from '../support/release.ts';
import { withTimes } from '../support/times.ts';
import { useApi } from '../support/use-api.ts';
import { attemptsOf, type ExtraWorker, startExtraWorker } from '../support/workers.ts';

const settings = withTimes({ jobRetryDelays: [200] }, { WORKER_ENABLED: 'false', WORKER_CONCURRENCY: '2' });

describe('A worker that knows fewer kinds beside a newer one', () => {
  const olderKinds: JobKind[] = ['document.extract', 'text.embed', 'text.summarize'];
  const newerKinds: JobKind[] = ['document.summarize', 'document.index'];
  const { api, ai, tenant } = useApi({ ai: true, env: settings });
  let older: ExtraWorker;
  let newer: ExtraWorker;
  let successor: ExtraWorker;
  const jobs: { id: string; kind: JobKind }[] = [];

  before(async () => {
    [older, newer] = await Promise.all([startExtraWorker(api, { env: { WORKER_JOB_KINDS: olderKinds.join() } }), startExtraWorker(api)]);
  });
  after(async () => {
    for (const worker of [older, newer, successor]) await worker?.kill();
    await expectSoundLedger(api);
  });

  const rows = () => api.database.db.selectFrom('job').select(['id', 'kind', 'status', 'attempts']).execute();
  const running = async () => (await rows()).filter(({ status }) => status === 'running');

  nightly(
    'takes over what it knows when the newer one is killed in the middle of jobs, and leaves the rest for its successor',
    async () => {
      const answered = Promise.withResolvers<void>();
      for (const operation of ['extract', 'summarize', 'embed'] as const) {
        ai.behave(operation, async (call) => {
          await answered.promise;
          return goodAnswer(call);
        });
      }
      const { id: documentId } = await api.upload(tenant, { bytes: 'A text of a few words. And another sentence.' });
      for (let round = 0; round < 4; round++) {
        for (const kind of [...olderKinds, ...newerKinds])
          jobs.push({ id: (await createJob(api, tenant, fieldsOf(kind, documentId))).id, kind });
      }
      // Two places each: four attempts under way are two of each worker.
      await until(async () => (await running()).length === 4);

      await newer.kill();
      const begun = new Set((await running()).map(({ id }) => id));
      answered.resolve();

      const known = new Set<string>(olderKinds);
      // The row of a lost attempt says running until the next one begins, which waits for a worker of its kind.
      const leftAs = (id: string) => (begun.has(id) ? 'running' : 'queued');
      await until(async () => (await rows()).every(({ id, kind, status }) => status === (known.has(kind) ? 'succeeded' : leftAs(id))));
      successor = await startExtraWorker(api);
      await until(async () => (await rows()).every(({ status }) => status === 'succeeded'));
      expect((await rows()).map(({ id }) => id).sort()).to.deep.equal(jobs.map(({ id }) => id).sort());
    },
  );

  nightly('costs each job that the killed one had no more than that attempt', async () => {
    let spent = 0;
    for (const { id, attempts } of await rows()) {
      const steps = await attemptsOf(api, id);
      // An attempt that had no slot yet when its worker was killed had not claimed the job, and costs nothing.
      expect(attempts, id).to.be.within(1, steps.some(({ lost }) => lost) ? 2 : 1);
      expect(await amountsOf(api, id)).to.have.lengthOf(1);
      spent += attempts - 1;
    }
    expect(spent, 'attempts that were under way').to.equal(2);
  });

  nightly('never gets a kind that it has no handler for', async () => {
    const takenBy = new Map<number, Set<string>>();
    for (const { id, kind } of jobs) {
      for (const { pid } of await attemptsOf(api, id)) takenBy.set(pid, (takenBy.get(pid) ?? new Set()).add(kind));
    }
    expect([...takenBy.keys()].sort()).to.deep.equal([older.pid, successor.pid].sort());
    expect([...(takenBy.get(older.pid) ?? [])].sort()).to.deep.equal(olderKinds);
    expect([...(takenBy.get(successor.pid) ?? [])]).to.have.members(newerKinds);
  });
});

describe('A release that changes the steps of a workflow', () => {
  // It looks at the row before the first attempt: one more activity, ahead of all that histories know.
  const handler = 'setHandler(jobCanceled, whenCanceled, { unfinishedPolicy: HandlerUnfinishedPolicy.ABANDON });';
  const added: Edit = { file: 'workflows/run-job.ts', from: handler, to: '' };
  const step = (condition: string): Edit => ({
    ...added,
    to: `${added.from}\n  ${condition}await settleAttempt({ jobId, claimedBy: workflowInfo().runId });`,
  });
  const change = 'look-before-first-attempt';
  const versioned = [step(`if (patched('${change}')) `)];
  /** Of this version already. */
  const earlier = 'the row decides';
  const unversioned = [step('')];
  let directory: string;

  before(() => {
    directory = makeTestDirectory();
  });
  after(() => removeTestDirectory(directory));

  function release(name: string, edits: Edit[]): string {
    const folder = join(directory, name);
    makeRelease(folder, edits);
    return folder;
  }

  it('replays saved histories with patched(), and only with it', async () => {
    const history = historyFromJSON(JSON.parse(readFileSync('test/replay/run-job-succeeded.0.3.0.json', 'utf8')));
    const replay = async (folder: string) => {
      const workflowsPath = join(folder, 'workflows', 'index.ts');
      const workflowBundle = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('WARN') });
      await Worker.runReplayHistory({ workflowBundle }, history, 'saved');
    };
    await replay(release('replayed', versioned));
    const failure = await replay(release('not-replayed', unversioned)).catch((error: Error) => error);
    expect(failure).to.be.an('error').with.property('name', 'DeterminismViolationError');
  });

  describe('rolled out while jobs are under way', () => {
    const { api, ai, tenant } = useApi({ ai: true, env: settings });
    let folder: string;
    let today: ExtraWorker;
    let next: ExtraWorker;

    before(() => {
      folder = release('next', versioned);
    });
    after(async () => {
      for (const worker of [today, next]) await worker?.kill();
      await expectSoundLedger(api);
    });

    /** The changes that a workflow has taken, as its history marks them. */
    async function changesOf(id: string): Promise<string[]> {
      const { events } = await api.temporal.client.workflow.getHandle(`job-${id}`).fetchHistory();
      const marks = (events ?? []).flatMap(
        ({ markerRecordedEventAttributes }) => markerRecordedEventAttributes?.details?.['patch-data']?.payloads ?? [],
      );
      return marks.map(({ data }) => JSON.parse(Buffer.from(data ?? []).toString()).id);
    }
    /** Why a worker could not carry a workflow on. */
    async function failedTasksOf(id: string): Promise<string[]> {
      const { events } = await api.temporal.client.workflow.getHandle(`job-${id}`).fetchHistory();
      return (events ?? []).flatMap(({ workflowTaskFailedEventAttributes }) => workflowTaskFailedEventAttributes?.failure?.message ?? []);
    }
    const result = (id: string) => resultOf(api, id);

    nightly('carries on what the version before began, killed in the middle of a job, by the steps that were begun', async () => {
      today = await startExtraWorker(api);
      ai.behave('summarize', () => undefined);
      const begun = await createJob(api, tenant, summary);
      await until(() => ai.callsOf(begun.id) === 1);
      await today.kill();
      ai.behave('summarize');

      next = await startExtraWorker(api, { cwd: folder });

      expect(await api.jobIn(tenant.owner.token, begun.id, ['succeeded'])).to.include({ attempts: 2 });
      expect(await result(begun.id)).to.deep.equal({ status: 'succeeded' });
      expect(await attemptsOf(api, begun.id)).to.deep.equal([{ pid: next.pid, attempts: 2, lost: true }]);
      expect(await changesOf(begun.id)).to.deep.equal([earlier]);
      const begunByNext = await createJob(api, tenant, summary);
      expect(await result(begunByNext.id)).to.deep.equal({ status: 'succeeded' });
      expect(await changesOf(begunByNext.id)).to.deep.equal([earlier, change]);
    });

    nightly('is waited for by what it began, when only the version before is left', async () => {
      ai.behave('summarize', () => undefined);
      const begun = await createJob(api, tenant, summary);
      await until(() => ai.callsOf(begun.id) === 1);
      today = await startExtraWorker(api);
      await next.kill();
      ai.behave('summarize');

      const other = await createJob(api, tenant, summary);
      expect(await api.jobIn(tenant.owner.token, other.id, ['succeeded'])).to.include({ attempts: 1 });
      await until(async () => (await failedTasksOf(begun.id)).length > 0);
      expect((await failedTasksOf(begun.id)).join()).to.include(change);
      next = await startExtraWorker(api, { cwd: folder });

      expect(await api.jobIn(tenant.owner.token, begun.id, ['succeeded'])).to.include({ attempts: 2 });
      expect(await result(begun.id)).to.deep.equal({ status: 'succeeded' });
      expect(await amountsOf(api, begun.id)).to.deep.equal([5]);
    });
  });
});

function fieldsOf(kind: JobKind, documentId: string): Record<string, unknown> {
  if (kind === 'text.summarize') return summary;
  if (kind === 'text.embed') return { kind, texts: ['a text'] };
  return { kind, documentId };
}
