import { isGrpcServiceError } from '@temporalio/client';
import type { SlotPermit } from '@temporalio/worker';
import { expect } from 'chai';
import { AttemptSlots } from '../../activities/attempt-slots.ts';
import { type JobKind, jobKinds as kinds } from '../../contract/jobs.ts';
import { JobSlots } from '../../worker/job-slots.ts';
import { answerLate, goodAnswer } from '../support/fake-ai.ts';
import { createJob, historyOf, summary } from '../support/jobs.ts';
import { runProgram, until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

/** The code of gRPC. */
const notFound = 5;

function fieldsOf(kind: JobKind, documentId: string): Record<string, unknown> {
  if (kind === 'text.summarize') return summary;
  if (kind === 'text.embed') return { kind, texts: ['a text'] };
  return { kind, documentId };
}

describe('The places of a worker', () => {
  const { api, ai, tenant } = useApi({ ai: true, env: { WORKER_CONCURRENCY: '2' }, check: 'at the end' });

  it('are never more than WORKER_CONCURRENCY, whatever the kinds, and every kind makes progress', async () => {
    const slowly = answerLate(60);
    for (const operation of ['extract', 'summarize', 'embed'] as const) ai.behave(operation, slowly);
    const { id: documentId } = await api.upload(tenant, { bytes: 'Some text.' });
    const created = await Promise.all(
      Array.from({ length: 40 }, (_, n) => createJob(api, tenant, fieldsOf(kinds[n % kinds.length] ?? 'text.embed', documentId))),
    );
    const finished = new Set<string>();
    const order: JobKind[] = [];
    let mostRows = 0;
    await until(async () => {
      const rows = await api.database.db.selectFrom('job').select(['id', 'kind', 'status']).execute();
      mostRows = Math.max(mostRows, rows.filter(({ status }) => status === 'running').length);
      for (const { id, kind, status } of rows) {
        if (status !== 'succeeded' || finished.has(id)) continue;
        finished.add(id);
        order.push(kind);
      }
      return finished.size === created.length;
    });

    expect(ai.mostRunning).to.equal(2);
    expect(mostRows).to.be.at.most(2);
    // No kind waits for another to be through: each has its first job among the first half.
    expect(new Set(order.slice(0, 20)).size).to.equal(kinds.length);
  });
});

describe('A full worker', () => {
  // Two processes with one place each.
  const { api, ai, tenant } = useApi({
    ai: true,
    services: ['api', 'worker'],
    env: { WORKER_CONCURRENCY: '1', WORKER_ENABLED: 'true' },
    check: 'at the end',
  });

  it('hands back what it cannot begin soon, so that it runs where there is a place', async () => {
    const free = Promise.withResolvers<void>();
    ai.behave('extract', async (call) => {
      await free.promise;
      return goodAnswer(call);
    });
    const { id: documentId } = await api.upload(tenant, { bytes: 'Some text.' });
    const long = await createJob(api, tenant, { kind: 'document.extract', documentId });
    await until(() => ai.callsOf(long.id) === 1);

    // Both processes ask for work; without a place of its own, each second job would wait for the long one.
    const others = [];
    for (let n = 0; n < 6; n++) others.push(await createJob(api, tenant, fieldsOf(n % 2 ? 'text.summarize' : 'text.embed', '')));
    for (const { id } of others) expect(await api.jobIn(tenant.owner.token, id, ['succeeded'])).to.include({ attempts: 1 });

    expect(await api.jobIn(tenant.owner.token, long.id, ['running'])).to.include({ attempts: 1 });
    free.resolve();
    await api.jobIn(tenant.owner.token, long.id, ['succeeded']);
    expect(ai.mostRunning).to.be.at.most(2);
  });
});

describe('The slots of attempts', () => {
  const { signal } = new AbortController();

  it('take one attempt more than the limit, but for a pause after one that had to go back', async () => {
    const slots = new AttemptSlots(1, { ownPatienceMs: 20, pauseMs: 50, longestPauseMs: 800 });
    expect(slots.mostTaken).to.equal(2);
    const own = await slots.acquire('one', signal);
    expect(own).to.be.a('function');
    expect(await slots.acquire('one', signal)).to.deep.equal({ behindOwn: true });
    expect(slots.mostTaken).to.equal(1);
    await slots.untilMore(signal);
    expect(slots.mostTaken).to.equal(2);
    // If only the same comes again, it asks less often.
    for (const ms of [100, 200, 400, 800]) expect(await pauseAfter(slots, 'one')).to.be.above(ms);
    expect(await pauseAfter(slots, 'one')).to.be.below(1_500);
    // And as often as before once one of them has found room.
    const waiting = slots.acquire('one', signal);
    if (typeof own === 'function') own();
    expect(await waiting).to.be.a('function');
    for (const ms of [50, 100, 200]) expect(await pauseAfter(slots, 'one')).to.be.within(ms, 750);

    const another = await slots.acquire('another', signal);
    expect(another).to.be.a('function');
    expect(await pauseAfter(slots, 'one')).to.be.below(750);
    // One that has none here is not to blame, and there is no room for a third.
    const impatient = new AttemptSlots(0, { patienceMs: 20 });
    await impatient.acquire('one', signal);
    expect(await impatient.acquire('another', signal)).to.deep.equal({ behindOwn: false });
    expect(impatient.mostTaken).to.equal(1);
  });

  async function pauseAfter(slots: AttemptSlots, organizationId: string): Promise<number> {
    const startedAt = performance.now();
    expect(await slots.acquire(organizationId, signal)).to.deep.equal({ behindOwn: true });
    await slots.untilMore(signal);
    return performance.now() - startedAt;
  }
});

describe('What a worker asks its queues for', () => {
  const none = {} as never;
  const used = (permit: SlotPermit | null) => ({ permit, slotInfo: none }) as never;

  it('is no more than it may take, in each queue, and idle queues take nothing from the others', async () => {
    const slots = new JobSlots(new AttemptSlots(1));
    const [busy, idle] = [slots.supplier(), slots.supplier()];
    const permits = [busy, busy, busy, idle, idle, idle].map((queue) => queue.tryReserveSlot(none));
    expect(permits.map(Boolean)).to.deep.equal([true, true, false, true, true, false]);
    const [first, second, , other] = permits;

    busy.markSlotUsed(used(first ?? null));
    busy.releaseSlot(used(second ?? null));
    const third = await busy.reserveSlot(none, new AbortController().signal);
    expect(busy.tryReserveSlot(none)).to.equal(null);
    busy.markSlotUsed(used(third));
    const waiting = busy.reserveSlot(none, AbortSignal.timeout(50)).catch((error: Error) => error.name);
    expect(await waiting).to.equal('TimeoutError');

    const next = busy.reserveSlot(none, AbortSignal.timeout(10_000));
    idle.releaseSlot(used(other ?? null));
    busy.releaseSlot(used(first ?? null));
    expect(await next).to.be.an('object');
  });
});

describe('A worker full of the long jobs of one organization', () => {
  const { api, ai, tenant } = useApi({ ai: true, env: { WORKER_CONCURRENCY: '2' }, check: 'at the end' });

  it('has a slot for another one, and loses none of those that it hands back', async () => {
    const free = Promise.withResolvers<void>();
    ai.behave('extract', async (call) => {
      await free.promise;
      return goodAnswer(call);
    });
    const other = await api.createTenant();
    const { id: documentId } = await api.upload(tenant, { bytes: 'Some text.' });
    const long: { id: string }[] = [];
    for (let n = 0; n < 8; n++) long.push(await createJob(api, tenant, { kind: 'document.extract', documentId }));
    await until(() => ai.running === 2);
    // It asks for one more again and again, and gets only more of the same.
    await until(async () => (await Promise.all(long.map(({ id }) => isHandedBack(id)))).includes(true));

    for (const fields of [{ kind: 'text.embed', texts: ['a'] }, summary]) {
      const { id } = await createJob(api, other, fields);
      expect(await api.jobIn(other.owner.token, id, ['succeeded'])).to.include({ attempts: 1 });
    }
    const { id: theirs } = await api.upload(other, { bytes: 'Some other text.' });
    const same = await createJob(api, other, { kind: 'document.extract', documentId: theirs });
    await until(() => ai.callsOf(same.id) === 1);
    expect(ai.running).to.equal(3);
    expect(long.filter(({ id }) => ai.callsOf(id) > 0)).to.have.length(2);

    free.resolve();
    for (const { id } of long) expect(await api.jobIn(tenant.owner.token, id, ['succeeded'])).to.include({ attempts: 1 });
    expect(ai.mostRunning).to.equal(3);
  });

  /** Whether an attempt of the job went back to the queue, where it does not stand before those of others. */
  async function isHandedBack(jobId: string): Promise<boolean> {
    const history = await api.temporal.client.workflow
      .getHandle(`job-${jobId}`)
      .fetchHistory()
      .catch((error: unknown) => {
        // A job may be asked for before its workflow has started.
        if (isGrpcServiceError(error) && error.code === notFound) return undefined;
        throw error;
      });
    const keys = history?.events?.map((event) => event.activityTaskScheduledEventAttributes?.priority?.fairnessKey);
    return keys?.includes(`${tenant.organizationId}/back`) === true;
  }
});

describe('A kind that no worker handles', () => {
  const { api, tenant } = useApi({ ai: true, env: { WORKER_JOB_KINDS: 'text.embed,document.extract' }, check: 'at the end' });

  it('stays queued without an attempt, and runs when a worker with its handler appears', async () => {
    const { token } = tenant.owner;
    const unhandled = await createJob(api, tenant, summary);
    const handled = await createJob(api, tenant, { kind: 'text.embed', texts: ['a text'] });
    await api.jobIn(token, handled.id, ['succeeded']);
    expect(await api.jobIn(token, unhandled.id, ['queued'])).to.include({ attempts: 0, startedAt: null, nextAttemptAt: null });

    await api.stack.start('worker', { WORKER_JOB_KINDS: 'text.summarize' });

    expect(await api.jobIn(token, unhandled.id, ['succeeded'])).to.include({ attempts: 1 });
    const attempts = (await historyOf(api, unhandled.id)).filter(({ activity }) => activity === 'runJobAttempt');
    expect(attempts.map(({ type }) => type)).to.deep.equal(['ActivityTaskCompleted']);
  });

  it('is refused as a setting where there is no such kind', async () => {
    const env = { ...api.stack.env, WORKER_JOB_KINDS: 'text.embed,text.translate' };
    const worker = runProgram(process.execPath, ['worker/main.ts'], { env });
    expect((await worker.exited).code).to.equal(1);
    expect(worker.stderr()).to.include('WORKER_JOB_KINDS: there is no kind text.translate');
  });
});
