import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createKey } from '../support/api-keys.ts';
import { nightly } from '../support/nightly.ts';
import { type Program, until } from '../support/processes.ts';
import { withTimes } from '../support/times.ts';
import { useApi } from '../support/use-api.ts';
import { type FaultyProxy, startFaultyProxy } from './support/faulty-proxy.ts';
import { type PythonKind, pythonKinds, pythonProgram, runPython } from './support/python-client.ts';

interface Event {
  id: string;
  status: string;
  lastEventId: string;
}

const order = ['queued', 'running', 'succeeded'];

describe("The Python client's stream of jobs", () => {
  const { api, tenant } = useApi({ env: withTimes({ streamRecheck: 200 }), tenant: 'of each test' });
  let proxy: FaultyProxy;
  let token: string;

  before(async () => {
    proxy = await startFaultyProxy(api.url);
  });
  beforeEach(async () => {
    proxy.passed.length = 0;
    proxy.faults = () => undefined;
    ({ token } = await createKey(api, tenant));
  });
  after(() => proxy.close());

  const isStream = ({ path }: { path: string }) => path.endsWith('/jobs/stream');
  const connections = () => proxy.passed.filter(isStream);

  function follow(kind: PythonKind, options: object, key = token, { url } = proxy as { url: string }): Program {
    return run(pythonProgram('follow', kind), options, { url, key });
  }

  function run(program: string, options: object, { url, key = token }: { url: string; key?: string }): Program {
    const env = { SHEAF_URL: url, SHEAF_API_KEY: key, SHEAF_ORGANIZATION: tenant.organizationId };
    return runPython(['-c', program, JSON.stringify(options)], { env });
  }

  /** Sends to each connection its messages, and holds it then. */
  async function startSender(connections: string[][]) {
    const lastEventIds: unknown[] = [];
    const server = createServer((req, res) => {
      const messages = connections[lastEventIds.push(req.headers['last-event-id']) - 1] ?? [];
      res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      for (const message of messages) res.write(`${message}\n\n`);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const stop = async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    };
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, lastEventIds, stop };
  }

  async function createJob(): Promise<string> {
    const body = { kind: 'text.embed', organizationId: tenant.organizationId, texts: ['one'] };
    return (await api.request('POST', '/api/v1/jobs', { token: tenant.owner.token, body })).body.id;
  }

  async function ended(program: Program): Promise<Event[]> {
    expect(await program.exited, program.stderr()).to.deep.equal({ code: 0, signal: null });
    expect(program.stderr()).to.equal('');
    return program
      .stdout()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line));
  }

  /** Each job came to its end, each state once, none after a later one. */
  function expectWhole(events: Event[], ids: string[]): void {
    for (const jobId of ids) {
      const states = events.filter(({ id }) => id === jobId).map(({ status }) => order.indexOf(status));
      expect(states.at(-1), jobId).to.equal(2);
      expect(states, jobId).to.deep.equal([...new Set(states)].sort());
    }
  }

  for (const kind of pythonKinds) {
    nightly(`tells of every job once and in order, however often the connection is cut (${kind})`, async () => {
      const rounds = 5;
      const program = follow(kind, { count: 2 * rounds });
      await program.printed(/open/);
      const ids: string[] = [];
      for (let round = 1; round <= rounds; round++) {
        ids.push(await createJob(), await createJob());
        proxy.cut();
        await until(() => connections().length > round);
      }
      expectWhole(await ended(program), ids);
      expect(
        connections()
          .map(({ headers }) => headers['last-event-id'])
          .slice(1),
      ).to.not.include(undefined);
      expect(new Set(connections().map(({ headers }) => headers['stream-id']))).to.have.length(1);
    });

    it(`misses nothing when it is cut before its first event (${kind})`, async () => {
      const program = follow(kind, { count: 1 });
      await program.printed(/open/);
      proxy.faults = (request) => (isStream(request) ? 'lose-request' : undefined);
      proxy.cut();
      const id = await createJob();
      await api.jobIn(tenant.owner.token, id, ['succeeded']);
      await until(() => connections().length > 2);
      proxy.faults = () => undefined;
      expectWhole(await ended(program), [id]);
    });

    it(`gives up a connection that is silent, and opens another (${kind})`, async () => {
      proxy.faults = (request) => (isStream(request) && connections().length === 1 ? 'mute' : undefined);
      const program = follow(kind, { count: 1, retries: { max_silence: 0.5 } });
      await program.printed(/open/);
      const id = await createJob();
      expectWhole(await ended(program), [id]);
      expect(connections().length).to.be.greaterThan(1);
    });

    it(`ends with the error when it is refused, before or while it is read (${kind})`, async () => {
      expect(await ended(follow(kind, { count: 1 }, 'none'))).to.deep.equal([{ code: 'UNAUTHORIZED', status: 401 }]);
      const other = await createKey(api, tenant);
      const program = follow(kind, { count: 1 }, other.token);
      await program.printed(/open/);
      await api.request('DELETE', `/api/v1/api-keys/${other.id}`, { token: tenant.owner.token });
      expect((await ended(program)).at(-1)).to.deep.equal({ code: 'UNAUTHORIZED', status: 401 });
    });
  }

  nightly('goes on after a wait that was given up, without repeats', async () => {
    const job = await api.jobIn(tenant.owner.token, await createJob(), ['succeeded']);
    const first = `id: 1\ndata: ${JSON.stringify({ ...job, status: 'running' })}`;
    const second = `id: 2\ndata: ${JSON.stringify(job)}`;
    const sender = await startSender([[first], [first], [first, second]]);
    const program = run(readFileSync('test/clients/programs/wait.py', 'utf8'), { times: 4, seconds: 2 }, sender);
    expect((await ended(program)).map(({ status }) => status)).to.deep.equal(['running', 'none', 'none', 'succeeded']);
    expect(sender.lastEventIds).to.deep.equal([undefined, '1', '1']);
    await sender.stop();
  });

  nightly('reads what other programs take for the end of a line, and says what is no event', async () => {
    const job = await api.jobIn(tenant.owner.token, await createJob(), ['succeeded']);
    const event = `id: 1\ndata: ${JSON.stringify({ ...job, note: 'one\u2028two\u0085three' })}`;
    for (const bad of ['data: {"id":', 'event: error\ndata: []']) {
      const sender = await startSender([[event, bad]]);
      const [read, failed] = await ended(follow('sync', { count: 2 }, token, sender));
      expect(read).to.include({ id: job.id, status: 'succeeded' });
      expect(failed).to.deep.equal({ code: 'UNEXPECTED_ANSWER', status: 0 });
      await sender.stop();
    }
  });

  nightly('goes on after an event that another stream ended with', async () => {
    const first = follow('sync', { count: 1 });
    await first.printed(/open/);
    const known = [await createJob()];
    const lastEventId = (await ended(first)).at(-1)?.lastEventId;
    const missed = await createJob();
    await api.jobIn(tenant.owner.token, missed, ['succeeded']);
    const events = await ended(follow('sync', { count: 1, known, last_event_id: lastEventId }));
    expectWhole(events, [missed]);
  });

  it('gives up when the service stays away', async () => {
    const program = follow('sync', { count: 1, retries: { max_delay: 0.02, reconnects: 3 } });
    await program.printed(/open/);
    proxy.faults = () => 'lose-request';
    proxy.cut();
    expect((await ended(program)).at(-1)).to.deep.equal({ code: 'NETWORK', status: 0 });
    expect(connections()).to.have.length(4);
  });
});
