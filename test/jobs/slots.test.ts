import type { SlotPermit } from '@temporalio/worker';
import { expect } from 'chai';
import { type JobKind, usualJobKinds as kinds } from '../../contract/jobs.ts';
import { JobSlots } from '../../worker/job-slots.ts';
import { answerLate } from '../support/fake-ai.ts';
import { createJob, historyOf, summary } from '../support/jobs.ts';
import { runProgram, until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

function fieldsOf(kind: JobKind, documentId: string): Record<string, unknown> {
  if (kind === 'text.summarize') return summary;
  if (kind === 'text.embed') return { kind, texts: ['a text'] };
  return { kind, documentId };
}

describe('The slots of a worker', () => {
  const { api, ai, tenant } = useApi({ ai: true, check: 'at the end' });

  it('are two by default, never more, whoever waits, and every kind makes progress', async () => {
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

    expect(ai.maxRunning).to.equal(2);
    expect(mostRows).to.be.at.most(2);
    // No kind waits for another to be through: each has its first job among the first half.
    expect(new Set(order.slice(0, 20)).size).to.equal(kinds.length);
  });
});

describe('What a worker asks its queues for', () => {
  const none = {} as never;
  const used = (permit: SlotPermit | null) => ({ permit, slotInfo: none }) as never;

  it('is no more than it may take, in each queue, and idle queues take nothing from the others', async () => {
    const slots = new JobSlots(2);
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

describe('A kind that no worker handles', () => {
  const { api, tenant } = useApi({
    ai: true,
    env: { WORKER_JOB_KINDS: 'text.embed,document.extract' },
    check: 'at the end',
  });

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
