import { mock } from 'node:test';
import { expect } from 'chai';
import { pino } from 'pino';
import type { Caller } from '../../api/caller.ts';
import { JobStreams, type JobStreamsOptions } from '../../api/streams/job-streams.ts';
import type { ChangedJob } from '../../domain/jobs/list-changed-jobs.ts';
import { createCursors } from '../../domain/page.ts';
import { until } from '../support/processes.ts';

describe('The streams of an organization', () => {
  const cursors = createCursors(Buffer.alloc(32));
  let now: Date;
  /** The jobs that can be read, as the database holds them. */
  let table: Map<string, ChangedJob>;
  /** How often each organization was read, and the contents of how many jobs. */
  let reads: number;
  let contents: number;
  let streams: JobStreams;

  function at(second: number): Date {
    return new Date(Date.UTC(2026, 10, 21, 12, 0, second));
  }

  function change(id: string, second: number, { status = 'queued', bytes = 1_000 } = {}): void {
    const times = {
      created_at: at(0),
      updated_at: at(second),
      changedAt: at(second),
      started_at: null,
      finished_at: null,
      next_attempt_at: null,
    };
    const rest = { input: {}, result: null, retry_of: null, error_code: null, attempts: 0, max_attempts: 1, credits: 0, created_by: null };
    const row = {
      id,
      organization_id: 'one',
      workspace_id: null,
      former_workspace_id: null,
      document_id: null,
      kind: 'text.embed',
      status,
    };
    table.set(id, { ...row, ...times, ...rest, bytes } as unknown as ChangedJob);
    streams.notify('one *');
  }

  function start(options: Partial<JobStreamsOptions> = {}): JobStreams {
    return new JobStreams({
      now: () => now,
      cursors,
      log: pino({ level: 'silent' }),
      leases: { perUser: 5, acquire: async () => ({ renew: async () => true, release: async () => {} }) },
      findMembership: async () => ({ signedIn: true, role: 'owner' }),
      async *readChanges(_organizationId, since, isNew) {
        reads++;
        const changed = [...table.values()]
          .filter(({ updated_at }) => updated_at.getTime() >= since.getTime() - 35_000)
          .sort((one, other) => one.updated_at.getTime() - other.updated_at.getTime())
          .filter((job) => isNew({ id: job.id, at: job.updated_at, state: `${job.status} 0 null`, bytes: job.bytes }));
        contents += changed.length;
        if (changed.length > 0) yield changed;
      },
      ...options,
    });
  }

  async function open(lastEventId?: string) {
    const closed = Promise.withResolvers<void>();
    let close = () => {};
    let hungUp = false;
    const events = await streams.open({
      caller: { userId: 'user' } as Caller,
      organizationId: 'one',
      workspaceId: undefined,
      lastEventId,
      streamId: undefined,
      hangUp() {
        hungUp = true;
        close();
      },
      onClose(callback) {
        close = () => {
          callback();
          closed.resolve();
        };
      },
    });
    const iterator = events[Symbol.asyncIterator]();
    return {
      async next(): Promise<string | undefined> {
        const { value, done } = await iterator.next();
        const job = value?.data as { id: string; status: string } | undefined;
        return done ? undefined : `${job?.id} ${job?.status}`;
      },
      close: () => close(),
      hungUp: () => hungUp,
    };
  }

  beforeEach(() => {
    now = at(0);
    table = new Map();
    [reads, contents] = [0, 0];
    streams = start();
  });
  afterEach(() => {
    streams.close();
    mock.timers.reset();
  });

  it('are told of what changes from then on, which is read once for all of them', async () => {
    change('before', 0);
    const opened = [await open(), await open(), await open()];
    const told = opened.map(({ next }) => next());
    change('a', 1);
    expect(await Promise.all(told)).to.deep.equal(Array(3).fill('a queued'));
    expect(contents).to.equal(1);
    // One for what there was before.
    expect(reads).to.equal(2);
  });

  it('are told of a change that was committed late, and of each state once', async () => {
    const { next } = await open();
    change('a', 10);
    expect(await next()).to.equal('a queued');
    now = at(20);
    change('late', 5);
    expect(await next()).to.equal('late queued');
    change('a', 11, { status: 'running' });
    change('a', 12, { status: 'succeeded' });
    expect(await next()).to.equal('a succeeded');
  });

  it('read by themselves what does not fit into the queue of a slow client, and miss nothing', async () => {
    const slow = await open();
    const fast = await open();
    change('first', 1);
    expect([await slow.next(), await fast.next()]).to.deep.equal(['first queued', 'first queued']);
    for (let n = 0; n < 6; n++) {
      change(`large ${n}`, 2 + n, { bytes: 1_500_000 });
      expect(await fast.next()).to.equal(`large ${n} queued`);
    }
    const before = contents;
    for (let n = 0; n < 6; n++) expect(await slow.next()).to.equal(`large ${n} queued`);
    expect(contents, 'read again for the slow one').to.be.above(before);
    const next = [slow.next(), fast.next()];
    change('last', 9);
    expect(await Promise.all(next)).to.deep.equal(['last queued', 'last queued']);
  });

  it('are read with a pause between two reads, however much changes', async () => {
    await open();
    const startedAt = performance.now();
    for (let n = 0; n < 200; n++) {
      change('busy', n);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const tookMs = performance.now() - startedAt;
    // One is for what there was before. A timer may end a pause of 10 ms a little early.
    expect(reads - 1).to.be.within(1, 2 + tookMs / 9);
  });

  it('read again what could not be read', async () => {
    let fails = false;
    const options: Partial<JobStreamsOptions> = {
      async *readChanges(_organizationId, _since, isNew) {
        if (fails) throw new Error('the database is away');
        const jobs = [...table.values()].filter((job) =>
          isNew({ id: job.id, at: job.updated_at, state: `${job.status} 0 null`, bytes: 1 }),
        );
        if (jobs.length > 0) yield jobs;
      },
    };
    streams = start(options);
    const { next } = await open();
    fails = true;
    change('a', 1);
    const told = next();
    await new Promise((resolve) => setTimeout(resolve, 50));
    fails = false;
    expect(await told).to.equal('a queued');
  });

  it('are forgotten when the last one closes', async () => {
    const { close } = await open();
    expect(streams.count()).to.equal(1);
    close();
    expect(streams.count()).to.equal(0);
    const before = reads;
    change('a', 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(reads).to.equal(before);
  });

  describe('by default', () => {
    it('hang up on a client that leaves an event unread for 20 s', async () => {
      const { next, hungUp } = await open();
      const told = next();
      // Until the stream waits for its next event.
      await until(() => true);
      mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
      change('a', 1);
      expect(await told).to.equal('a queued');
      mock.timers.tick(19_999);
      expect(hungUp()).to.equal(false);
      mock.timers.tick(1);
      expect(hungUp()).to.equal(true);
      expect(await next()).to.equal(undefined);
    });
  });
});
