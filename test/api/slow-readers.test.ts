import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { HeldJobs } from '../../api/streams/held-jobs.ts';
import { createRenderer } from '../../api/streams/job-events.ts';
import { JobSubscriber, type SubscriberOptions } from '../../api/streams/job-subscriber.ts';
import { replayPageBytes } from '../../api/streams/replay.ts';
import { SendBudget } from '../../api/streams/send-budget.ts';
import type { ChangedJob, ChangedPage, ChangePosition } from '../../domain/jobs/list-changed-jobs.ts';
import { createCursors } from '../../domain/page.ts';
import { until } from '../support/processes.ts';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('The event of a job', () => {
  const cursors = createCursors(Buffer.alloc(32, 1));
  const job = { id: 'a', organization_id: 'one', kind: 'text.embed', status: 'queued' } as ChangedJob;
  const dates = { created_at: new Date(0), updated_at: new Date(5), changedAt: new Date(3), started_at: null, finished_at: null };

  it('is rendered once for all streams if it is small, and for each if it is large', () => {
    const render = createRenderer(cursors);
    const [small, large] = [1_000, 100_000].map((bytes) => ({ ...job, ...dates, bytes })) as [ChangedJob, ChangedJob];
    expect(render(small)).to.equal(render(small));
    expect(render(large)).to.not.equal(render(large));
    expect(render(large)).to.deep.equal(render({ ...small }));
    expect(cursors.decode('job-events:one', render(small).id)).to.deep.equal({ createdAt: new Date(3), id: 'a' });
  });
});

describe('Readers of job streams', () => {
  const cursors = createCursors(Buffer.alloc(32));
  const held = new HeldJobs();
  const slow: JobSubscriber[] = [];
  const budget = () => new SendBudget({ totalBytes: 1_000_000, patienceMs: 60_000 });

  function jobAt(second: number, bytes = 1_000): ChangedJob {
    const at = new Date(Date.UTC(2026, 10, 21, 12, 0, second));
    const job = {
      id: `job-${second}`,
      organization_id: 'one',
      workspace_id: null,
      document_id: null,
      kind: 'text.embed',
      status: 'queued',
    };
    const times = { created_at: at, updated_at: at, started_at: null, finished_at: null, next_attempt_at: null };
    const rest = { input: {}, result: null, retry_of: null, error_code: null, attempts: 0, max_attempts: 1, credits: 0, created_by: null };
    return { ...job, ...times, ...rest, bytes, changedAt: at } as unknown as ChangedJob;
  }

  function subscribe(options: Partial<SubscriberOptions> = {}, lastEventId?: string) {
    const limits = { maxPending: 100, maxPendingBytes: 10_000, stallMs: 60_000, patienceMs: 60_000 };
    const changedSince = async (): Promise<ChangedPage> => ({ jobs: [], end: undefined, more: false });
    const common = {
      cursors,
      held,
      sending: budget(),
      replaying: budget(),
      render: createRenderer(cursors),
      onSlow: (one: JobSubscriber) => void slow.push(one),
      changedSince,
    };
    const left = new AbortController();
    const stream = {
      caller: {} as never,
      organizationId: 'one',
      workspaceId: undefined,
      lastEventId,
      streamId: undefined,
      signal: left.signal,
      hangUp: () => left.abort(),
      onDrained: (callback: () => void) => callback(),
    };
    const subscriber = new JobSubscriber(stream, { now: () => new Date(), ...limits, ...common, ...options });
    return { subscriber, events: subscriber.events() };
  }
  const idOf = ({ value }: IteratorResult<{ data: unknown }, void>) => (value as { data: { id: string } } | undefined)?.data.id;
  const resumesFrom = ({ value }: IteratorResult<{ id: string }, void>) => value && cursors.decode('job-events:one', value.id).createdAt;
  const eventIdAt = (second: number) => cursors.encode('job-events:one', { createdAt: jobAt(second).updated_at, id: 'x' });

  const endOf = (job: ChangedJob | undefined) => job && { id: job.id, at: job.updated_at };

  beforeEach(() => {
    slow.length = 0;
  });

  it('lose their stream once what waits for them is larger than allowed, and hold nothing any more', async () => {
    const { subscriber, events } = subscribe();
    for (const second of [1, 2]) subscriber.push(jobAt(second, 5_000));
    expect(slow).to.have.length(0);
    expect(held.bytes).to.equal(10_000);
    subscriber.push(jobAt(3, 1));
    expect(slow).to.deep.equal([subscriber]);
    expect(held.bytes).to.equal(0);
    expect((await events.next()).done).to.equal(true);
  });

  it('get one event that is larger than all that may wait', async () => {
    const { subscriber, events } = subscribe();
    subscriber.push(jobAt(1, 1_000_000));
    expect(idOf(await events.next())).to.equal('job-1');
    expect(slow).to.deep.equal([]);
    await events.return(undefined);
  });

  it('share a job that waits for several of them', () => {
    const [one, other] = [subscribe(), subscribe()];
    const job = jobAt(1, 5_000);
    for (const { subscriber } of [one, other]) subscriber.push(job);
    expect(held.bytes).to.equal(5_000);
    one.subscriber.end('ended');
    expect(held.bytes).to.equal(5_000);
    other.subscriber.end('ended');
    expect(held.bytes).to.equal(0);
  });

  it('lose nothing of what changes while a replay reads, and nothing waits for them meanwhile', async () => {
    const table = [jobAt(1), jobAt(2)];
    const isAfter = (job: ChangedJob, from: Date | ChangePosition) =>
      from instanceof Date ? job.updated_at >= from : job.updated_at > from.at;
    let onRead = () => {};
    const changedSince = async (_: string, from: Date | ChangePosition): Promise<ChangedPage> => {
      const found = table.filter((job) => isAfter(job, from)).sort((a, b) => a.updated_at.getTime() - b.updated_at.getTime());
      onRead();
      return { jobs: found.slice(0, 1), end: endOf(found[0]), more: found.length > 1 };
    };
    const { subscriber, events } = subscribe({ changedSince }, eventIdAt(0));
    const commit = (second: number) => {
      table.push(jobAt(second));
      subscriber.push(jobAt(second));
    };
    expect(idOf(await events.next())).to.equal('job-1');
    commit(3);
    expect(held.bytes).to.equal(0);
    expect(idOf(await events.next())).to.equal('job-2');
    expect(idOf(await events.next())).to.equal('job-3');
    // Committed after the last page was read, before it has been sent: the page does not have it.
    onRead = () => {
      onRead = () => {};
      commit(5);
      commit(4);
    };
    commit(6);
    const rest = [];
    for (let count = 0; count < 3; count++) rest.push(idOf(await events.next()));
    expect([...rest].sort()).to.deep.equal(['job-4', 'job-5', 'job-6']);
    const next = events.next();
    // The replay ends, since there is nothing newer: what changes from now on waits for the client.
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    subscriber.push(jobAt(7));
    expect(idOf(await next)).to.equal('job-7');
    await events.return(undefined);
  });

  it('lose nothing between the pages of a replay if a job changes while it is read', async () => {
    const froms: (Date | ChangePosition)[] = [];
    const changedSince = async (_: string, from: Date | ChangePosition): Promise<ChangedPage> => {
      froms.push(from);
      // The first was the job of second 1 when the page was found, and has changed at second 9 before it was read.
      if (froms.length === 1) return { jobs: [{ ...jobAt(9), changedAt: jobAt(1).changedAt }], end: endOf(jobAt(1)), more: true };
      return { jobs: [jobAt(5)], end: endOf(jobAt(5)), more: false };
    };
    const { events } = subscribe({ changedSince }, eventIdAt(0));
    const first = await events.next();
    expect(idOf(first)).to.equal('job-9');
    // Who resumes after it must be told of second 5.
    expect(resumesFrom(first)).to.deep.equal(jobAt(1).changedAt);
    expect(idOf(await events.next())).to.equal('job-5');
    expect(froms[1]).to.deep.equal(endOf(jobAt(1)));
    await events.return(undefined);
  });

  it('are told of a job that was committed late before the next page of their replay', async () => {
    const pages: ChangedPage[] = [
      { jobs: [jobAt(1), jobAt(3)], end: endOf(jobAt(3)), more: true },
      { jobs: [jobAt(4)], end: endOf(jobAt(4)), more: false },
    ];
    const changedSince = async () => pages.shift() as ChangedPage;
    const { subscriber, events } = subscribe({ changedSince }, eventIdAt(0));
    expect(idOf(await events.next())).to.equal('job-1');
    subscriber.push(jobAt(2));
    for (const id of ['job-3', 'job-2', 'job-4']) expect(idOf(await events.next())).to.equal(id);
    await events.return(undefined);
  });

  it('are told of a job that changed before their replay began once the replay comes to it', async () => {
    const pages: ChangedPage[] = [
      { jobs: [jobAt(1)], end: endOf(jobAt(1)), more: true },
      { jobs: [jobAt(5)], end: endOf(jobAt(5)), more: false },
      { jobs: [jobAt(8)], end: endOf(jobAt(8)), more: false },
    ];
    const froms: (Date | ChangePosition)[] = [];
    const changedSince = async (_: string, from: Date | ChangePosition) => {
      froms.push(from);
      return pages.shift() as ChangedPage;
    };
    const { subscriber, events } = subscribe({ changedSince }, eventIdAt(0));
    subscriber.push(jobAt(8));
    for (const id of ['job-1', 'job-5', 'job-8']) expect(idOf(await events.next())).to.equal(id);
    expect(froms.at(-1)).to.deep.equal(jobAt(8).updated_at);
    expect(held.bytes).to.equal(0);
    await events.return(undefined);
  });

  it('keep their stream while a page of their replay is read slowly, and others wait for room', async () => {
    const patienceMs = 20;
    const replaying = new SendBudget({ totalBytes: 1, patienceMs });
    const page = Promise.withResolvers<ChangedPage>();
    const { events } = subscribe({ replaying, changedSince: () => page.promise }, eventIdAt(0));
    const next = events.next();
    await nextTurn();
    await nextTurn();
    const waiting = replaying.acquire({ lastReadAt: 0, drop: () => {} }, 1);
    await delay(3 * patienceMs);
    expect(slow).to.deep.equal([]);
    page.resolve({ jobs: [jobAt(1)], end: endOf(jobAt(1)), more: false });
    expect(idOf(await next)).to.equal('job-1');
    // From now on the page is the client's to read.
    await until(() => slow.length > 0);
    await events.return(undefined);
    await waiting;
  });

  it('get a replay whose pages count with their size before they are read', async () => {
    const replaying = new SendBudget({ totalBytes: 2 * replayPageBytes, patienceMs: 60_000 });
    const admitted: string[] = [];
    const large: SubscriberOptions['changedSince'] = async (_organizationId, _from, admit) => {
      await admit(2 * replayPageBytes);
      admitted.push('large');
      return { jobs: [jobAt(1)], end: endOf(jobAt(1)), more: false };
    };
    const first = subscribe({ replaying, changedSince: large }, eventIdAt(0));
    const second = subscribe({ replaying, changedSince: large }, eventIdAt(0));
    expect(idOf(await first.events.next())).to.equal('job-1');
    const next = second.events.next();
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    expect(admitted).to.deep.equal(['large']);
    await first.events.return(undefined);
    expect(idOf(await next)).to.equal('job-1');
    await second.events.return(undefined);
  });

  it('that leave an event unread for too long lose their stream', async () => {
    const { subscriber, events } = subscribe({ stallMs: 20 });
    subscriber.push(jobAt(1));
    await events.next();
    const ended = new Promise<void>((resolve) => {
      const timer = setInterval(() => {
        if (slow.length === 0) return;
        clearInterval(timer);
        resolve();
      }, 5);
    });
    await ended;
    expect(slow).to.deep.equal([subscriber]);
    expect((await events.next()).done).to.equal(true);
  });
});

describe('Large events', () => {
  it('are rendered one in each turn of the event loop, until there is no room', async () => {
    const sending = new SendBudget({ totalBytes: 100, patienceMs: 60_000 });
    const sender = { lastReadAt: performance.now(), drop: () => {} };
    const turns: number[] = [];
    const releases: (() => void)[] = [];
    let turn = 0;
    for (let index = 0; index < 4; index++) {
      void sending.acquire(sender, 50).then((release) => {
        turns.push(turn);
        releases.push(release);
      });
    }
    for (; turn < 6; turn++) await nextTurn();
    expect(turns).to.have.length(2);
    expect(new Set(turns).size).to.equal(2);
    releases[0]?.();
    for (; turn < 9; turn++) await nextTurn();
    expect(turns).to.have.length(3);
  });

  it('are taken from a client that does not read while others wait', async () => {
    const sending = new SendBudget({ totalBytes: 100, patienceMs: 40 });
    const dropped: string[] = [];
    const sender = (name: string, lastReadAt: number, release: () => void) => ({
      lastReadAt,
      drop: () => {
        dropped.push(name);
        release();
      },
    });
    let releaseDeaf = () => {};
    const deaf = sender('deaf', performance.now(), () => releaseDeaf());
    const reading = {
      ...sender('reading', 0, () => {}),
      get lastReadAt() {
        return performance.now();
      },
    };
    releaseDeaf = await sending.acquire(deaf, 60);
    await sending.acquire(reading, 60);
    await sending.acquire(
      sender('next', performance.now(), () => {}),
      60,
    );
    expect(dropped).to.deep.equal(['deaf']);
  });

  it('are left to a client that reads slowly once nobody waits any more', async () => {
    const patienceMs = 400;
    const sending = new SendBudget({ totalBytes: 100, patienceMs });
    let drops = 0;
    const idle = () => ({ lastReadAt: performance.now() - 10 * patienceMs, drop: () => drops++ });
    await sending.acquire(idle(), 60);
    const release = await sending.acquire(idle(), 60);
    const next = sending.acquire(idle(), 10);
    // There is no room, so that the budget begins to watch.
    await nextTurn();
    await nextTurn();
    release();
    await next;
    await delay(2 * patienceMs);
    expect(drops).to.equal(0);
  });

  it('may be left unread for as long by a client that read nothing before, since there was nothing', async () => {
    const patienceMs = 40;
    const sending = new SendBudget({ totalBytes: 100, patienceMs });
    const dropped = Promise.withResolvers<number>();
    const acquiredAt = performance.now();
    const quiet = { lastReadAt: acquiredAt - 10 * patienceMs, drop: () => dropped.resolve(performance.now()) };
    await sending.acquire(quiet, 100);
    void sending.acquire(quiet, 1);
    expect((await dropped.promise) - acquiredAt).to.be.at.least(patienceMs - 1);
  });
});
