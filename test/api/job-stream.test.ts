import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { sql } from 'kysely';
import { findFreePorts } from '../../ops/local/ports.ts';
import type { TestUser } from '../support/api.ts';
import { type EventStream, openJobStream, refusedJobStream, type StreamedEvent } from '../support/event-stream.ts';
import { errorsOf, insertJobOnly, summary } from '../support/jobs.ts';
import { nightly } from '../support/nightly.ts';
import { until } from '../support/processes.ts';
import { withTimes } from '../support/times.ts';
import { useApi } from '../support/use-api.ts';

const isError = ({ event }: StreamedEvent) => event === 'error';
const of = (job: { id: string }, status: string) => (event: StreamedEvent) => event.data.id === job.id && event.data.status === status;

describe('The job stream', () => {
  let metricsPort = 0;
  const { api, tenant } = useApi({
    process: true,
    env: async () => {
      [metricsPort = 0] = await findFreePorts(1);
      return withTimes({ streamRecheck: 200 }, { METRICS_PORT: String(metricsPort) });
    },
  });
  const open: EventStream[] = [];

  afterEach(() => {
    for (const stream of open.splice(0)) stream.close();
  });

  async function stream(options: Partial<Parameters<typeof openJobStream>[1]> = {}): Promise<EventStream> {
    const opened = await openJobStream(api, { token: tenant.owner.token, organizationId: tenant.organizationId, ...options });
    open.push(opened);
    return opened;
  }

  async function createJob(fields: object = {}): Promise<{ id: string }> {
    const body = { kind: 'text.embed', organizationId: tenant.organizationId, texts: ['one'], ...fields };
    const created = await api.request('POST', '/api/v1/jobs', { token: tenant.owner.token, body });
    expect(created.status, JSON.stringify(created.body)).to.equal(200);
    return created.body;
  }

  /** Opens a stream; undefined when the user has no place left for it. Either way an event says so. */
  async function tryOpen(token: string): Promise<EventStream | undefined> {
    const { workspaceId } = tenant;
    const opened = await stream({ token, workspaceId });
    const job = await createJob({ workspaceId });
    const { event, data } = await opened.first((event) => isError(event) || event.data.id === job.id);
    if (event === 'message') return opened;
    expect(data).to.include({ code: 'TOO_MANY_REQUESTS', defined: true, status: 429 });
    // An EventSource would otherwise come back every three seconds, and use up the requests of its address.
    expect(opened.retryMs()).to.equal(60_000);
    await opened.ended;
    return undefined;
  }

  describe('carries', () => {
    it('the states of a job in order, with input and result once it is finished', async () => {
      const following = await stream();
      const job = await createJob();
      const last = await following.first(of(job, 'succeeded'));
      const ofJob = following.events.filter(({ data }) => data.id === job.id);
      const order = ofJob.map(({ data }) => ['queued', 'running', 'succeeded'].indexOf(data.status));
      expect(order).to.deep.equal([...order].sort());
      expect(order.length).to.be.at.least(2);
      for (const { event, id, data } of ofJob) {
        expect(event).to.equal('message');
        expect(id).to.be.a('string').that.is.not.empty;
        if (data.status !== 'succeeded') expect(data).to.not.have.any.keys('input', 'result');
      }
      expect(last.data.input).to.deep.equal({ texts: ['one'] });
      expect(last.data.result.vectors).to.have.length(1);
    });

    it('nothing of what happened before it began', async () => {
      const before = await stream();
      const earlier = await createJob();
      await api.jobIn(tenant.owner.token, earlier.id, ['succeeded']);
      // Notifications come in their order: with this one, every earlier one has come.
      await before.first(of(await createJob(), 'succeeded'));
      const following = await stream();
      const job = await createJob();
      await following.first(of(job, 'succeeded'));
      expect(following.events.map(({ data }) => data.id)).to.not.include(earlier.id);
    });

    it('all jobs of a statement that changes more than a notification can name', async () => {
      const following = await stream();
      const ids = await insertJobs({ count: 150, summaryLength: 10 });
      for (const id of ids) await following.first(({ data }) => data.id === id);
    });

    it('nothing of another organization, and of one workspace only where it is asked for', async () => {
      const other = await api.createTenant();
      const elsewhere = await stream({ token: other.owner.token, organizationId: other.organizationId });
      const narrowed = await stream({ workspaceId: tenant.workspaceId });
      const outside = await createJob();
      const inside = await createJob({ workspaceId: tenant.workspaceId });
      await narrowed.first(of(inside, 'succeeded'));
      expect(narrowed.events.map(({ data }) => data.id)).to.not.include(outside.id);
      const body = { kind: 'text.embed', organizationId: other.organizationId, texts: ['two'] };
      const theirs = await api.request('POST', '/api/v1/jobs', { token: other.owner.token, body });
      await elsewhere.first(of(theirs.body, 'succeeded'));
      expect(new Set(elsewhere.events.map(({ data }) => data.organizationId))).to.deep.equal(new Set([other.organizationId]));
    });
  });

  describe('of a workspace that is deleted', () => {
    /** A workspace with a job that no worker has begun, and a stream that has told of it. */
    async function followed() {
      const { token } = tenant.owner;
      const slug = `doomed-${crypto.randomUUID().slice(0, 8)}`;
      const body = { organizationId: tenant.organizationId, name: 'Doomed', slug };
      const { body: workspace } = await api.request('POST', '/api/v1/workspaces', { token, body });
      const following = await stream({ workspaceId: workspace.id });
      const { job, message } = await insertJobOnly(api, { ...tenant, workspaceId: workspace.id }, summary);
      // The relay would start it after some seconds.
      await api.database.db.deleteFrom('outbox').where('id', '=', message.id).execute();
      const { id: lastEventId } = await following.first(of(job, 'queued'));
      const remove = async () =>
        expect((await api.request('DELETE', `/api/v1/workspaces/${workspace.id}`, { token })).status).to.equal(200);
      return { workspaceId: workspace.id as string, job, following, lastEventId, remove };
    }
    const ended = { status: 'failed', workspaceId: null };

    it('tells how its jobs end', async () => {
      const { job, following, remove } = await followed();
      await remove();
      const { data } = await following.first(of(job, 'failed'));
      expect(data).to.include(ended);
      expect(data.error.code).to.equal('workspace_missing');
    });

    it('tells it also to a client that was away meanwhile, and nothing of another workspace', async () => {
      const { workspaceId, job, following, lastEventId, remove } = await followed();
      following.close();
      const elsewhere = await createJob({ workspaceId: tenant.workspaceId });
      await api.jobIn(tenant.owner.token, elsewhere.id, ['succeeded']);
      await remove();
      const resumed = await stream({ workspaceId, lastEventId });
      expect((await resumed.first(of(job, 'failed'))).data).to.include(ended);
      expect(resumed.events.map(({ data }) => data.id)).to.not.include(elsewhere.id);
    });

    it('begins no more, nor for another organization, nor for a workspace that never was', async () => {
      const { workspaceId, following, lastEventId, remove } = await followed();
      following.close();
      await remove();
      const { token } = tenant.owner;
      const { organizationId } = tenant;
      const other = await api.createTenant();
      const refused = [
        { token, organizationId, workspaceId },
        { token, organizationId, workspaceId: 'never-was', lastEventId },
        { token: other.owner.token, organizationId: other.organizationId, workspaceId, lastEventId },
      ];
      // As before the drain has come to its jobs.
      const undrained = await followed();
      undrained.following.close();
      const { db } = api.database;
      await db.deleteFrom('workspace').where('id', '=', undrained.workspaceId).execute();
      const deletion = { workspace_id: undrained.workspaceId, organization_id: organizationId, requested_by: null };
      await db.insertInto('workspace_deletion').values(deletion).execute();
      refused.push({ ...undrained, token: other.owner.token, organizationId: other.organizationId });
      for (const asked of refused) expect((await refusedJobStream(api, asked)).body).to.include({ code: 'NOT_FOUND', status: 404 });
      const foreign = { token: other.owner.token, organizationId, workspaceId, lastEventId };
      expect((await refusedJobStream(api, foreign)).body).to.include({ code: 'FORBIDDEN', status: 403 });
    });
  });

  describe('holds its events to the contract', () => {
    it('lets nothing out that is not declared', async () => {
      const following = await stream();
      const [id] = await insertJobs({ count: 1, summaryLength: 10, input: { internal: 'secret' } });
      const { data } = await following.first((event) => event.data.id === id);
      expect(data.input).to.deep.equal({ text: 'a', maxSentences: 1 });
    });

    it('skips one that does not fit, now and in a replay, and logs and counts it', async () => {
      const skippedRows = () =>
        errorsOf(api, 'api').flatMap((line) => {
          const { msg, row } = JSON.parse(line);
          return msg === 'an event does not fit the contract; its stream skips it' ? [row] : [];
        });
      const { organizationId, owner } = await api.createTenant();
      const options = { token: owner.token, organizationId };
      const following = await stream(options);
      const [before] = await insertJobs({ organizationId, count: 1, summaryLength: 10 });
      const { id: lastEventId } = await following.first(({ data }) => data.id === before);
      const [bad] = await insertJobs({ organizationId, count: 1, summaryLength: 10, input: { maxSentences: 'many' } });
      const [after] = await insertJobs({ organizationId, count: 1, summaryLength: 10 });
      await following.first(({ data }) => data.id === after);
      const resumed = await stream({ ...options, lastEventId });
      await resumed.first(({ data }) => data.id === after);
      for (const { events } of [following, resumed]) {
        expect(events.filter(isError)).to.deep.equal([]);
        expect(events.map(({ data }) => data.id)).to.not.include(bad);
      }
      // The API writes its log when it has time.
      await until(() => skippedRows().length >= 2);
      expect(skippedRows()).to.deep.equal([bad, bad]);
      const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      expect(metrics).to.match(/^sheaf_stream_events_skipped\S* 2$/m);
    });
  });

  it('is counted by metrics, which are not served where requests arrive', async () => {
    expect((await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).status).to.equal(200);
    for (const path of ['/metrics', '/api/v1/metrics']) expect((await api.request('GET', path)).status, path).to.equal(404);
  });

  nightly('sends a comment every 15 seconds while nothing happens, over both transports', async () => {
    const quiet = await api.createTenant();
    const { token } = quiet.owner;
    const { organizationId } = quiet;
    const asked: [string, RequestInit][] = [
      [`/api/v1/organizations/${organizationId}/jobs/stream`, {}],
      ['/rpc/jobs/stream', { method: 'POST', body: JSON.stringify({ json: { organizationId } }) }],
    ];
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const began = performance.now();
    const comments = asked.map(async ([path, init]) => {
      const response = await fetch(`${api.url}${path}`, { ...init, headers });
      for await (const chunk of response.body ?? []) {
        const isComment = /^:/m.test(new TextDecoder().decode(chunk));
        // The first one may come at once, so that what lies between passes the head on.
        if (isComment && performance.now() - began > 5_000) return performance.now() - began;
      }
      throw new Error('the stream ended');
    });
    // What lies between gives up a silent connection after thirty seconds or more.
    for (const ms of await Promise.all(comments)) expect(ms).to.be.within(14_500, 28_000);
  });

  describe('goes on after the last event that a client got', () => {
    it('and misses nothing of what happened meanwhile', async () => {
      const before = await stream();
      const first = await createJob();
      const { id: lastEventId } = await before.first(of(first, 'succeeded'));
      before.close();
      const missed = [await createJob(), await createJob(), await createJob({ workspaceId: tenant.workspaceId })];
      for (const job of missed) await api.jobIn(tenant.owner.token, job.id, ['succeeded']);
      const resumed = await stream({ lastEventId });
      for (const job of missed) await resumed.first(of(job, 'succeeded'));
      const next = await createJob();
      await resumed.first(of(next, 'succeeded'));
    });

    it('in the workspace that it asks for', async () => {
      const before = await stream();
      const { id: lastEventId } = await before.first(of(await createJob(), 'succeeded'));
      const [outside, inside] = [await createJob(), await createJob({ workspaceId: tenant.workspaceId })];
      for (const job of [outside, inside]) await api.jobIn(tenant.owner.token, job.id, ['succeeded']);
      const resumed = await stream({ lastEventId, workspaceId: tenant.workspaceId });
      await resumed.first(of(inside, 'succeeded'));
      expect(resumed.events.map(({ data }) => data.id)).to.not.include(outside.id);
    });

    it('from what happens next if the header is empty, as if there were none', async () => {
      const begun = await stream({ lastEventId: '' });
      await begun.first(of(await createJob(), 'succeeded'));
    });

    it('but not after an event of another organization, or of nobody', async () => {
      const other = await api.createTenant();
      const elsewhere = await stream({ token: other.owner.token, organizationId: other.organizationId });
      const body = { kind: 'text.embed', organizationId: other.organizationId, texts: ['two'] };
      const theirs = await api.request('POST', '/api/v1/jobs', { token: other.owner.token, body });
      const { id: foreign = '' } = await elsewhere.first(of(theirs.body, 'succeeded'));
      for (const lastEventId of [foreign, 'made-up', `${foreign}x`]) {
        const { organizationId, owner } = tenant;
        const { status, body } = await refusedJobStream(api, { organizationId, token: owner.token, lastEventId });
        expect({ status, ...body }).to.deep.include({ code: 'BAD_REQUEST', defined: true, status: 400 });
        expect(body.data.issues[0].path).to.deep.equal(['Last-Event-Id']);
      }
    });
  });

  it('is opened five times by a user; a sixth is told so in an event, and a place is free when one hangs up', async () => {
    const [user, other] = [await newMember(), await newMember()];
    for (let count = 0; count < 5; count++) expect(await tryOpen(user.token), `place ${count + 1}`).to.not.equal(undefined);
    expect(await tryOpen(user.token)).to.equal(undefined);
    expect(await tryOpen(other.token)).to.not.equal(undefined);
    open[0]?.close();
    await until(async () => (await tryOpen(user.token)) !== undefined);
    expect(await tryOpen(user.token)).to.equal(undefined);
  });

  it('asks for no place of whoever only asks for its headers', async () => {
    const user = await newMember();
    const { hostname, port } = new URL(api.url);
    const socket = connect(Number(port), hostname);
    const head = `HEAD /api/v1/organizations/${tenant.organizationId}/jobs/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${user.token}\r\n\r\n`;
    let answered = '';
    socket.on('data', (chunk) => (answered += chunk));
    socket.write(head.repeat(6));
    await until(() => answered.split('HTTP/1.1 200 OK').length === 7);
    expect(answered.split('Content-Type: text/event-stream; charset=utf-8')).to.have.length(7);
    expect(await tryOpen(user.token)).to.not.equal(undefined);
    socket.destroy();
  });

  describe('ends with an error once', () => {
    const changes: [string, string, (user: TestUser) => Promise<unknown>][] = [
      ['its member is removed', 'FORBIDDEN', (user) => api.database.db.deleteFrom('member').where('userId', '=', user.id).execute()],
      [
        "its member's role changes",
        'FORBIDDEN',
        (user) => api.database.db.updateTable('member').set({ role: 'admin' }).where('userId', '=', user.id).execute(),
      ],
      [
        'its session is revoked',
        'UNAUTHORIZED',
        (user) => api.request('POST', '/api/auth/revoke-sessions', { token: user.token, body: {} }),
      ],
      [
        'its user is banned',
        'UNAUTHORIZED',
        (user) => api.database.db.updateTable('user').set({ banned: true }).where('id', '=', user.id).execute(),
      ],
    ];
    for (const [why, code, change] of changes) {
      it(why, async () => {
        const user = await newMember();
        const following = await stream({ token: user.token });
        const staying = await stream();
        await following.first(of(await createJob(), 'succeeded'));
        await change(user);
        const { data } = await following.first(isError);
        expect(data).to.include({ code, defined: true });
        await following.ended;
        expect(following.events.at(-1)?.event).to.equal('error');
        await staying.first(of(await createJob(), 'succeeded'));
      });
    }
  });

  it('misses nothing when the database connection that listens is lost', async () => {
    const following = await stream();
    await following.first(of(await createJob(), 'succeeded'));
    const { db } = api.database;
    const accept = (allowed: boolean) =>
      sql`update pg_database set datallowconn = ${allowed} where datname = current_database()`.execute(db);
    await accept(false);
    try {
      const killed = await sql`
        select pg_terminate_backend(pid, 5000) from pg_stat_activity
        where application_name = 'sheaf listen' and datname = current_database()
      `.execute(db);
      expect(killed.rows).to.have.length(1);
      const [id] = await insertJobs({ count: 1, summaryLength: 10 });
      await accept(true);
      await following.first(({ data }) => data.id === id);
    } finally {
      await accept(true);
    }
  });

  nightly('drops a reader that does not read, and keeps nothing for it', async () => {
    const user = await newMember();
    // Of its own, so that no other test replays what is written here.
    const { organizationId } = await api.createTenant();
    await api.addMember(organizationId, user, 'member');
    for (let count = 0; count < 4; count++) expect(await tryOpen(user.token)).to.not.equal(undefined);
    const { hostname, port } = new URL(api.url);
    const deaf = connect(Number(port), hostname).on('error', () => {});
    const path = `/api/v1/organizations/${organizationId}/jobs/stream`;
    deaf.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${user.token}\r\n\r\n`);
    await once(deaf, 'data');
    deaf.pause();
    // The head of a response is sent before its lease is taken.
    const leases = api.database.db.selectFrom('job_stream_lease').select('slot').where('user_id', '=', user.id);
    await until(async () => (await leases.execute()).length === 5);
    expect(await tryOpen(user.token)).to.equal(undefined);
    for (let round = 0; round < 10; round++) await insertJobs({ organizationId, count: 100, summaryLength: 20_000 });
    await until(async () => (await tryOpen(user.token)) !== undefined);
    deaf.destroy();
  });

  async function newMember(): Promise<TestUser> {
    const user = await api.signUp();
    await api.addMember(tenant.organizationId, user, 'member');
    return user;
  }

  /** Writes finished jobs, as large as wanted, and returns their ids. */
  async function insertJobs(jobs: { count: number; summaryLength: number; input?: object; organizationId?: string }): Promise<string[]> {
    const { count, summaryLength, input, organizationId = tenant.organizationId } = jobs;
    const { rows } = await sql<{ id: string }>`
      insert into job (id, organization_id, kind, status, input, result, max_attempts, credits, credit_month, finished_at)
      select gen_random_uuid()::text, ${organizationId}, 'text.summarize', 'succeeded',
        ${JSON.stringify({ text: 'a', maxSentences: 1, ...input })}::jsonb,
        jsonb_build_object('summary', repeat('a', ${summaryLength}::int), 'sentences', 1, 'model', 'm', 'characters', 1), 1, 0, now(), now()
      from generate_series(1, ${count}::int)
      returning id
    `.execute(api.database.db);
    return rows.map(({ id }) => id);
  }
});

describe('The life of a job stream', () => {
  const { api, tenant } = useApi({ process: true, env: withTimes({ streamLifetime: 1_000 }, { WORKER_ENABLED: 'false' }) });

  it('is bounded: it ends without an error, and the client comes back', async () => {
    const options = { token: tenant.owner.token, organizationId: tenant.organizationId };
    const stream = await openJobStream(api, options);
    await stream.ended;
    expect(stream.events).to.deep.equal([]);
    (await openJobStream(api, options)).close();
  });

  it('ends with the process that serves it, without an error', async () => {
    const stream = await openJobStream(api, { token: tenant.owner.token, organizationId: tenant.organizationId });
    const exit = await api.stack.kill('api', 'SIGTERM');
    expect(exit.code).to.equal(0);
    await stream.ended;
    expect(stream.events).to.deep.equal([]);
  });
});
