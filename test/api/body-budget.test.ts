import { EventEmitter, once } from 'node:events';
import { type ClientRequest, createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import express, { type Request, type Response } from 'express';
import { pino } from 'pino';
import { jsonBody } from '../../api/http/json-body.ts';
import { requestInfo } from '../../api/http/request.ts';
import { BodyBudget, type BodyBudgetLimits } from '../../api/limits/body-budget.ts';
import { procedure, type RunDeps, run } from '../../api/procedure.ts';
import type { ApiError } from '../../contract/api-error.ts';
import { contract } from '../../contract/index.ts';
import { until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

const mebibyte = 1024 * 1024;

describe('Bodies under way', () => {
  const limits = {
    smallBytes: 5,
    users: { totalBytes: 150, bytesPerKey: 100, maxWaiting: 2 },
    addresses: { totalBytes: 60, bytesPerKey: 40, maxWaiting: 2 },
    patienceMs: 60_000,
    contendedMs: 60_000,
  };
  /** The codes of the requests that were ended before their bodies had arrived. */
  let ended: string[] = [];
  const createBudget = (changed: Partial<BodyBudgetLimits> = {}) =>
    new BodyBudget((_req, _res, { code }) => ended.push(code), { ...limits, ...changed });
  beforeEach(() => {
    ended = [];
  });

  class FakeResponse extends EventEmitter {
    readonly locals: object;
    closed = false;
    headersSent = false;
    writableEnded = false;
    writableFinished = false;
    constructor(userId?: string, clientAddress = '192.0.2.1') {
      super();
      this.locals = { clientAddress, ...(userId && { caller: { userId } }) };
    }
    write() {
      this.headersSent = true;
      this.writableEnded = true;
    }
    close() {
      this.closed = true;
      this.emit('close');
    }
    destroy() {
      this.close();
    }
  }

  const admit = (budget: BodyBudget, res: FakeResponse, headers: Record<string, string>, complete = true) =>
    budget.admit({ headers, complete } as unknown as Request, res as unknown as Response, mebibyte);
  const ofLength = (bytes: number) => ({ 'content-length': String(bytes) });
  const codeOf = (refused: Promise<unknown>) =>
    refused.then(
      () => 'admitted',
      ({ code, retryAfterSeconds }: ApiError) => [code, retryAfterSeconds],
    );
  const waits = (promise: Promise<unknown>) =>
    Promise.race([promise.then(() => false), new Promise<boolean>((resolve) => setImmediate(() => resolve(true)))]);

  it('of one user wait for each other, and nobody else does', async () => {
    const budget = createBudget();
    const [first, second, other] = [new FakeResponse('loud'), new FakeResponse('loud'), new FakeResponse('quiet')];
    await admit(budget, first, ofLength(80));
    const waiting = admit(budget, second, ofLength(80));
    expect(await waits(waiting)).to.equal(true);
    await admit(budget, other, ofLength(60));
    expect(budget.bytes).to.equal(140);
    first.close();
    await waiting;
    expect(budget.bytes).to.equal(140);
    for (const res of [second, other]) res.close();
    expect(budget.bytes).to.equal(0);
  });

  it('take turns by user if all are full', async () => {
    const budget = createBudget();
    const [a, b] = [new FakeResponse('a'), new FakeResponse('b')];
    await admit(budget, a, ofLength(100));
    await admit(budget, b, ofLength(50));
    const order: string[] = [];
    const responses = ['a', 'a', 'c'].map((user) => {
      const res = new FakeResponse(user);
      void admit(budget, res, ofLength(50)).then(() => order.push(user));
      return res;
    });
    b.close();
    await until(() => order.length === 1);
    expect(order).to.deep.equal(['c']);
    for (const res of [a, ...responses]) res.close();
    await until(() => order.length === 3);
    expect(budget.bytes).to.equal(0);
  });

  it('are refused as the user’s own or as those of all, if they wait too long or too many wait', async () => {
    const budget = createBudget({ patienceMs: 20 });
    await admit(budget, new FakeResponse('a'), ofLength(100));
    await admit(budget, new FakeResponse('b'), ofLength(50));
    expect(await codeOf(admit(budget, new FakeResponse('a'), ofLength(10)))).to.deep.equal(['TOO_MANY_REQUESTS', 5]);
    expect(await codeOf(admit(budget, new FakeResponse('c'), ofLength(10)))).to.deep.equal(['SERVICE_UNAVAILABLE', undefined]);
    const patient = createBudget();
    const held = new FakeResponse('a');
    await admit(patient, held, ofLength(100));
    for (let count = 0; count < 2; count++) admit(patient, new FakeResponse('a'), ofLength(10)).catch(() => {});
    expect(await codeOf(admit(patient, new FakeResponse('a'), ofLength(10)))).to.deep.equal(['TOO_MANY_REQUESTS', 5]);
    held.close();
  });

  it('that nobody waits for any more are forgotten, and let those behind them go on', async () => {
    const budget = createBudget();
    const [first, left, small] = [new FakeResponse('a'), new FakeResponse('a'), new FakeResponse('a')];
    await admit(budget, first, ofLength(60));
    const gone = codeOf(admit(budget, left, ofLength(80)));
    const behind = admit(budget, small, ofLength(20));
    expect(await waits(behind)).to.equal(true);
    left.close();
    await behind;
    expect((await gone)[0]).to.not.equal('admitted');
    first.close();
    small.close();
    expect(budget.bytes).to.equal(0);
  });

  it('that are small are not counted', async () => {
    const budget = createBudget();
    expect(await admit(budget, new FakeResponse('a'), ofLength(5))).to.equal(undefined);
    await admit(budget, new FakeResponse('a'), ofLength(6));
    expect(budget.bytes).to.equal(6);
  });

  it('of addresses without a session wait for each other, and take nothing from users', async () => {
    const budget = createBudget({ patienceMs: 20 });
    await admit(budget, new FakeResponse(undefined, '192.0.2.1'), ofLength(40));
    expect(await codeOf(admit(budget, new FakeResponse(undefined, '192.0.2.1'), ofLength(10)))).to.deep.equal(['TOO_MANY_REQUESTS', 5]);
    await admit(budget, new FakeResponse(undefined, '192.0.2.2'), ofLength(20));
    const third = codeOf(admit(budget, new FakeResponse(undefined, '192.0.2.3'), ofLength(10)));
    expect(await third).to.deep.equal(['SERVICE_UNAVAILABLE', undefined]);
    await admit(budget, new FakeResponse('a'), ofLength(100));
    await admit(budget, new FakeResponse('b'), ofLength(50));
    expect(budget.bytes).to.equal(210);
  });

  it('that do not arrive, or whose responses are not read, are ended if others wait for their room', async () => {
    const budget = createBudget({ contendedMs: 20 });
    const [working, arriving, unread] = [new FakeResponse('a'), new FakeResponse('b'), new FakeResponse('b')];
    await admit(budget, working, ofLength(60));
    await admit(budget, arriving, ofLength(50), false);
    await admit(budget, unread, ofLength(40));
    unread.write();
    await admit(budget, new FakeResponse('c'), ofLength(90));
    expect(ended).to.deep.equal(['SERVICE_UNAVAILABLE']);
    expect([working.closed, unread.closed, budget.bytes]).to.deep.equal([false, true, 150]);
  });

  it('are not ended while nobody waits, or whoever waits does so for its own', async () => {
    const budget = createBudget({ contendedMs: 5, patienceMs: 60 });
    await admit(budget, new FakeResponse('a'), ofLength(100), false);
    expect((await codeOf(admit(budget, new FakeResponse('a'), ofLength(10))))[0]).to.equal('TOO_MANY_REQUESTS');
    expect([ended, budget.bytes]).to.deep.equal([[], 100]);
  });

  it('count as 1 MiB while their length is not known, and as what they were afterwards', async () => {
    const budget = createBudget({ users: { totalBytes: 3 * mebibyte, bytesPerKey: 3 * mebibyte, maxWaiting: 2 } });
    const res = new FakeResponse('a');
    const held = await admit(budget, res, { 'transfer-encoding': 'chunked' });
    await admit(budget, res, { 'content-encoding': 'gzip', ...ofLength(10) });
    await admit(budget, res, ofLength(5 * mebibyte));
    expect(await admit(budget, res, {})).to.equal(undefined);
    expect(budget.bytes).to.equal(3 * mebibyte);
    held?.shrinkTo(7);
    expect(budget.bytes).to.equal(2 * mebibyte + 7);
    res.close();
    expect(budget.bytes).to.equal(0);
  });

  it('count until their handlers are done, also if their clients have left', async () => {
    const budget = createBudget();
    const done = Promise.withResolvers<void>();
    const handler = () => done.promise.then(() => ({ status: 'ok' }) as never);
    const deps = { log: pino({ level: 'silent' }), load: { note() {} } } as unknown as RunDeps;
    const [handling, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const app = express();
    app.post('/', jsonBody(budget), async (req, res) => {
      res.once('close', left.resolve);
      handling.resolve();
      await run(deps, procedure(contract.system.health, handler), { input: {}, caller: undefined, request: requestInfo(req, res) });
    });
    const server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const sent = request({ port: (server.address() as AddressInfo).port, method: 'POST', headers: { 'content-type': 'application/json' } });
    sent.on('error', () => {}).end('{"a": 1}');
    await handling.promise;
    sent.destroy();
    await left.promise;
    expect(budget.bytes).to.equal(8);
    done.resolve();
    await until(() => budget.bytes === 0);
    server.close();
  });

  describe('at the API', () => {
    const { api } = useApi({ env: { WORKER_ENABLED: 'false', TRUST_PROXY: 'true' } });
    let sent: ClientRequest[] = [];
    beforeEach(() => {
      sent = [];
    });
    afterEach(() => {
      for (const each of sent) each.destroy();
    });

    /** Begins a request whose body does not come, and returns the status and code of its response, if there is one. */
    async function begin(path: string, headers: Record<string, string>): Promise<{ status: number | undefined; code: string }> {
      const started = request(`${api.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        agent: false,
      });
      sent.push(started.on('error', () => {}));
      started.write('{');
      const [response] = (await once(started, 'response').catch(() => [])) as IncomingMessage[];
      if (!response) return { status: undefined, code: 'none' };
      const body = await response.setEncoding('utf8').reduce((text: string, part: string) => text + part, '');
      return { status: response.statusCode, code: JSON.parse(body).code };
    }
    const largest = { 'content-length': String(mebibyte) };
    const as = ({ token }: { token: string }) => ({ authorization: `Bearer ${token}` });
    const from = (address: string) => ({ 'x-forwarded-for': address });
    const post = async (user: { token: string }, padding: number) => {
      const body = JSON.stringify({ organizationId: 'abc', name: 'a', slug: 'aa' }) + ' '.repeat(padding);
      return (await api.request('POST', '/api/v1/workspaces', { token: user.token, body })).status;
    };

    it('of one user are refused beyond their share, while another is served', async () => {
      const [loud, quiet] = [await api.signUp(), await api.signUp()];
      const begun = Array.from({ length: 10 }, () => begin('/api/v1/workspaces', { ...as(loud), ...largest }));
      expect(await Promise.race(begun)).to.deep.equal({ status: 429, code: 'TOO_MANY_REQUESTS' });
      expect([await post(quiet, 0), await post(quiet, 500_000)]).to.deep.equal([403, 403]);
      for (const each of sent) each.destroy();
      await Promise.all(begun);
      await until(async () => (await post(loud, 500_000)) === 403);
    });

    it('of addresses that announce much and send nothing do not close the API', async () => {
      const user = await api.signUp();
      const refused = Array.from({ length: 8 }, (_, address) => {
        const headers = { ...from(`198.51.100.${address}`), 'transfer-encoding': 'chunked' };
        return Promise.race(Array.from({ length: 9 }, () => begin('/api/v1/contact', headers)));
      });
      for (const each of await Promise.all(refused)) expect(each).to.deep.equal({ status: 429, code: 'TOO_MANY_REQUESTS' });
      expect([await post(user, 0), await post(user, 500_000)]).to.deep.equal([403, 403]);
      const body = { email: 'ada@example.com', message: 'How do I raise my quota?' };
      const contact = await api.request('POST', '/api/v1/contact', { body, headers: from('198.51.100.100') });
      expect([contact.status, contact.body.code]).to.deep.equal([412, 'PRECONDITION_FAILED']);
      expect((await api.rpc('system.health', {})).status).to.equal(200);
    });

    it('of users that come slowly make room for others', async () => {
      const user = await api.signUp();
      const loud = await Promise.all(Array.from({ length: 8 }, () => api.signUp()));
      const codes: string[] = [];
      // One of nine finds the share of its user used up, so that now all are.
      const full = loud.map((each) => {
        const begun = Array.from({ length: 9 }, () => begin('/api/v1/workspaces', { ...as(each), ...largest }));
        for (const response of begun) void response.then(({ code }) => codes.push(code));
        return Promise.race(begun);
      });
      for (const each of await Promise.all(full)) expect(each).to.deep.equal({ status: 429, code: 'TOO_MANY_REQUESTS' });
      expect(await post(user, 500_000)).to.equal(403);
      await until(() => codes.includes('SERVICE_UNAVAILABLE'));
    });

    it('are small where they open a stream, which may stay open for long', async () => {
      const { token } = await api.signUp();
      const body = JSON.stringify({ json: { organizationId: 'abc' } });
      const open = (bytes: number) => api.request('POST', '/rpc/jobs/stream', { token, body: body.padEnd(bytes) });
      expect((await open(16_384)).status).to.equal(403);
      const refused = await open(16_385);
      expect([refused.status, refused.body.error]).to.deep.equal([413, 'payload_too_large']);
    });
  });
});
