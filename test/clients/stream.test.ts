import { expect } from 'chai';
import { type Client, createClient, type JobEvent, type JobStream, SheafError } from '../../clients/typescript/index.ts';
import { defaultRetries } from '../../clients/typescript/retry.ts';
import { followJobs } from '../../clients/typescript/stream.ts';
import { collectGarbage } from '../support/collect-garbage.ts';
import { until } from '../support/processes.ts';
import { staysTrue } from '../support/stays-true.ts';
import { withTimes } from '../support/times.ts';
import { useApi } from '../support/use-api.ts';
import { type FaultyProxy, startFaultyProxy } from './support/faulty-proxy.ts';
import { refusal } from './support/refusal.ts';

const order = ['queued', 'running', 'succeeded'];

describe("The client's stream of jobs", () => {
  const { api, tenant } = useApi({ process: true, env: withTimes({ streamRecheck: 200 }) });
  let proxy: FaultyProxy;
  let client: Client;

  before(async () => {
    proxy = await startFaultyProxy(api.url);
    client = clientOf(tenant.owner.token);
  });
  beforeEach(() => {
    proxy.passed.length = 0;
    proxy.faults = () => undefined;
  });
  after(async () => {
    await proxy.close();
  });

  const clientOf = (token: string) => createClient({ url: proxy.url, token, retries: { baseDelayMs: 20 } });
  const connections = () => proxy.passed.filter(({ path }) => path === '/rpc/jobs/stream');
  const follow = (as = client) => as.jobs.stream({ organizationId: tenant.organizationId });

  async function createJobs(count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let made = 0; made < count; made++) {
      const { id } = await client.jobs.create({ kind: 'text.embed', organizationId: tenant.organizationId, texts: ['one'] });
      ids.push(id);
    }
    return ids;
  }

  /** Reads until every one of the jobs has succeeded. */
  async function readUntilDone(stream: JobStream, ids: string[]): Promise<JobEvent[]> {
    const open = new Set(ids);
    const events: JobEvent[] = [];
    while (open.size > 0) {
      const { done, value } = await stream.next();
      if (done) break;
      events.push(value);
      if (value.status === 'succeeded') open.delete(value.id);
    }
    return events;
  }

  async function readInto(events: JobEvent[], stream: JobStream): Promise<void> {
    for await (const event of stream) events.push(event);
  }

  /** Asked from outside of the reading: the last event of a job can come before the response that names it. */
  const untilDone = (events: JobEvent[], ids: string[]) =>
    until(() => ids.every((jobId) => events.some(({ id, status }) => id === jobId && status === 'succeeded')));

  /** Each job came to its end, each state once, none after a later one. */
  function expectWhole(events: JobEvent[], ids: string[]): void {
    for (const jobId of ids) {
      const states = events.filter(({ id }) => id === jobId).map(({ status }) => order.indexOf(status));
      expect(states.at(-1), jobId).to.equal(2);
      expect(states, jobId).to.deep.equal([...new Set(states)].sort());
    }
  }

  it('tells of every job once and in order, however often the connection is cut', async () => {
    const stream = await follow();
    const ids: string[] = [];
    const events: JobEvent[] = [];
    const reading = readInto(events, stream);
    for (let round = 0; round < 6; round++) {
      ids.push(...(await createJobs(2)));
      proxy.cut();
    }
    await untilDone(events, ids);
    await stream.return();
    await reading;
    expectWhole(events, ids);
    expect(connections().length).to.be.greaterThan(4);
  });

  it('misses nothing when it is cut before its first event', async () => {
    const stream = await follow();
    proxy.faults = ({ path }) => (path === '/rpc/jobs/stream' ? 'lose-request' : undefined);
    proxy.cut();
    const reading = stream.next();
    const missed = await createJobs(1);
    for (const id of missed) await client.waitForJob(id);
    proxy.faults = () => undefined;
    const first = await reading;
    expect(first.done).to.equal(false);
    const events = first.value ? [first.value] : [];
    if (first.value?.id !== missed[0]) events.push(...(await readUntilDone(stream, missed)));
    expectWhole(events, missed);
    await stream.return();
  });

  it('tells of each event once also where the service repeats it', async () => {
    proxy.faults = ({ path }) =>
      path === '/rpc/jobs/stream' && connections().length <= 3 ? { cutAfter: '"status":"succeeded"' } : undefined;
    const stream = await follow();
    const ids: string[] = [];
    const events: JobEvent[] = [];
    for (let round = 1; round <= 4; round++) {
      const [id = ''] = await createJobs(1);
      ids.push(id);
      events.push(...(await readUntilDone(stream, [id])));
    }
    await stream.return();
    expectWhole(events, ids);
    expect(connections()).to.have.length(4);
    const resumed = connections().map(({ headers }) => headers['last-event-id']);
    expect(resumed[0]).to.equal(undefined);
    expect(resumed.at(-1)).to.be.a('string');
    expect(stream.lastEventId).to.be.a('string');
  });

  it('gives up a connection that is silent, and opens another', async () => {
    const attentive = createClient({ url: proxy.url, token: tenant.owner.token, retries: { baseDelayMs: 20, maxSilenceMs: 500 } });
    proxy.faults = ({ path }) => (path === '/rpc/jobs/stream' && connections().length === 1 ? 'mute' : undefined);
    const stream = await follow(attentive);
    const ids = await createJobs(1);
    expectWhole(await readUntilDone(stream, ids), ids);
    await stream.return();
    expect(connections().length).to.be.greaterThan(1);
  });

  it('is not refused for its own connections whose end the service did not see', async () => {
    const member = await api.signUp();
    await api.addMember(tenant.organizationId, member, 'member');
    const attentive = createClient({ url: proxy.url, token: member.token, retries: { baseDelayMs: 20, maxSilenceMs: 500, reconnects: 2 } });
    proxy.faults = ({ path }) => (path === '/rpc/jobs/stream' && connections().length <= 10 ? 'unseen' : undefined);
    const streams = await Promise.all(Array.from({ length: 5 }, () => follow(attentive)));
    const nexts = streams.map((stream) => stream.next());
    // Each of the first ten connections is silent and is given up; the service still holds it.
    await until(() => connections().length >= 15);
    await createJobs(1);
    expect((await Promise.all(nexts)).map(({ done }) => done)).to.deep.equal([false, false, false, false, false]);
    const ids = connections().map(({ headers }) => headers['stream-id']);
    expect(new Set(ids)).to.have.length(5);
    await Promise.all(streams.map((stream) => stream.return()));
  });

  describe('after a collection of garbage', () => {
    it('ends when it is hung up while it waits', async () => {
      const stream = await follow();
      const next = stream.next();
      await collectGarbage();
      await stream.return();
      expect((await next).done).to.equal(true);
    });

    it('gives up a connection that has become silent', async () => {
      const attentive = createClient({ url: proxy.url, token: tenant.owner.token, retries: { baseDelayMs: 20, maxSilenceMs: 1_000 } });
      proxy.faults = ({ path }) => (path === '/rpc/jobs/stream' && connections().length === 1 ? 'mute' : undefined);
      const stream = await follow(attentive);
      const next = stream.next();
      await collectGarbage();
      await until(() => connections().length > 1, 10_000);
      await stream.return();
      await next;
    });
  });

  it('goes on after an event that another stream ended with', async () => {
    const stream = await follow();
    await readUntilDone(stream, await createJobs(1));
    await stream.return();
    const missed = await createJobs(1);
    for (const id of missed) await client.waitForJob(id);
    const resumed = await client.jobs.stream({ organizationId: tenant.organizationId }, { lastEventId: stream.lastEventId });
    expect((await readUntilDone(resumed, missed)).at(-1)?.id).to.equal(missed[0]);
    await resumed.return();
  });

  it('ends with the error when it is refused, before or while it is read', async () => {
    const outsider = await api.signUp();
    expect((await refusal(follow(clientOf(outsider.token)))).code).to.equal('FORBIDDEN');
    expect((await refusal(follow(clientOf('none')))).code).to.equal('UNAUTHORIZED');
    expect((await refusal(client.jobs.stream({ organizationId: 'none' }))).code).to.equal('FORBIDDEN');
    const { organizationId } = tenant;
    expect((await refusal(client.jobs.stream({ organizationId, workspaceId: 'none' }))).code).to.equal('NOT_FOUND');
    expect((await refusal(client.jobs.stream({ organizationId }, { lastEventId: 'made-up' }))).code).to.equal('BAD_REQUEST');

    const member = await api.signUp();
    await api.addMember(organizationId, member, 'member');
    const stream = await follow(clientOf(member.token));
    const next = stream.next();
    await api.database.db.deleteFrom('member').where('userId', '=', member.id).execute();
    expect((await refusal(next)).code).to.equal('FORBIDDEN');
    expect((await stream.next()).done).to.equal(true);
  });

  it('says that a user holds too many, after it has tried again', async () => {
    const member = await api.signUp();
    await api.addMember(tenant.organizationId, member, 'member');
    const theirs = clientOf(member.token);
    const streams = await Promise.all(Array.from({ length: 5 }, () => follow(theirs)));
    const nexts = streams.map((stream) => stream.next());
    const sixth = await follow(theirs);
    expect((await refusal(sixth.next())).code).to.equal('TOO_MANY_REQUESTS');
    await Promise.all(streams.map((stream) => stream.return()));
    await Promise.all(nexts);
  });

  it('gives up when the service stays away', async () => {
    const own = await startFaultyProxy(api.url);
    const impatient = createClient({ url: own.url, token: tenant.owner.token, retries: { baseDelayMs: 5, maxDelayMs: 10, reconnects: 3 } });
    const stream = await follow(impatient);
    const next = refusal(stream.next());
    await own.close();
    expect((await next).code).to.equal('NETWORK');
  });

  describe('whose connections the service soon ends', () => {
    const lifetimeMs = 1_500;
    before(() => api.stack.restart('api', withTimes({ streamRecheck: 200, streamLifetime: lifetimeMs })));

    it('goes on over the next ones', async () => {
      const stream = await follow();
      const ids = await createJobs(1);
      const events: JobEvent[] = [];
      const reading = readInto(events, stream);
      await until(() => connections().length >= 3);
      ids.push(...(await createJobs(1)));
      await untilDone(events, ids);
      await stream.return();
      await reading;
      expectWhole(events, ids);
    });

    it('ends when it is aborted or hung up, also while it waits, and leaves no connection behind', async () => {
      const controller = new AbortController();
      const aborted = await client.jobs.stream({ organizationId: tenant.organizationId }, { signal: controller.signal });
      const next = aborted.next();
      controller.abort();
      expect(await next).to.deep.equal({ done: true, value: undefined });
      const hungUp = await follow();
      const waiting = hungUp.next();
      await hungUp.return();
      expect((await waiting).done).to.equal(true);
      const count = connections().length;
      await staysTrue(() => connections().length === count, lifetimeMs);
    });
  });
});

describe('A stream that was open', () => {
  it('goes on after its user was refused for a while, because the service still counts its broken connection', async () => {
    const event = { id: 'job', updatedAt: '2026-11-22T10:00:00.000Z', status: 'queued', attempts: 0, workspaceId: null } as JobEvent;
    const ended = new AbortController();
    const refusals = 2 * defaultRetries.attempts;
    let opened = 0;
    const stream = followJobs({
      first: { events: broken(new SheafError('NETWORK', 'lost')), lastEventId: undefined },
      async open() {
        opened++;
        const refused = broken(new SheafError('TOO_MANY_REQUESTS', 'too many', { status: 429 }));
        return { events: opened > refusals ? ([event].values() as unknown as AsyncIterator<JobEvent>) : refused, lastEventId: undefined };
      },
      retries: { ...defaultRetries, baseDelayMs: 1, maxDelayMs: 1 },
      signal: ended.signal,
      hangUp: () => ended.abort(),
      lastEventId: undefined,
    });
    expect((await stream.next()).value).to.equal(event);
    ended.abort();
  });

  function broken(error: SheafError): AsyncIterator<JobEvent> {
    return { next: () => Promise.reject(error) };
  }
});

describe('The events of a stream', () => {
  it('that change only the workspace of a job are no repetitions', async () => {
    const event = (workspaceId: string | null) =>
      ({ id: 'job', updatedAt: '2026-11-22T10:00:00.000Z', status: 'queued', attempts: 0, workspaceId }) as JobEvent;
    const sent = [event('main'), event('main'), event(null), event(null)];
    const ended = new AbortController();
    const stream = followJobs({
      first: { events: sent.values() as unknown as AsyncIterator<JobEvent>, lastEventId: undefined },
      open: () => new Promise(() => {}),
      retries: { ...defaultRetries, baseDelayMs: 1 },
      signal: ended.signal,
      hangUp: () => ended.abort(),
      lastEventId: undefined,
    });
    const read = [(await stream.next()).value, (await stream.next()).value];
    expect(read.map((each) => each?.workspaceId)).to.deep.equal(['main', null]);
    ended.abort();
  });
});
