import { EventEmitter } from 'node:events';
import { request } from 'node:http';
import { expect } from 'chai';
import type { Request, Response } from 'express';
import { BodyBudget } from '../../api/http/body-budget.ts';
import type { ApiError } from '../../contract/api-error.ts';
import { until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

const mebibyte = 1024 * 1024;

describe('Bodies under way', () => {
  const limits = { totalBytes: 150, bytesPerKey: 100, maxWaiting: 2, patienceMs: 60_000 };

  class FakeResponse extends EventEmitter {
    readonly locals: object;
    closed = false;
    writableFinished = false;
    constructor(userId: string) {
      super();
      this.locals = { caller: { userId }, clientAddress: '192.0.2.1' };
    }
    close() {
      this.closed = true;
      this.emit('close');
    }
  }

  const admit = (budget: BodyBudget, res: FakeResponse, headers: Record<string, string>) =>
    budget.admit({ headers } as Request, res as unknown as Response);
  const ofLength = (bytes: number) => ({ 'content-length': String(bytes) });
  const codeOf = (refused: Promise<unknown>) =>
    refused.then(
      () => 'admitted',
      ({ code, retryAfterSeconds }: ApiError) => [code, retryAfterSeconds],
    );
  const waits = (promise: Promise<unknown>) =>
    Promise.race([promise.then(() => false), new Promise<boolean>((resolve) => setImmediate(() => resolve(true)))]);

  it('of one user wait for each other, and nobody else does', async () => {
    const budget = new BodyBudget(limits);
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
    const budget = new BodyBudget(limits);
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
    const budget = new BodyBudget({ ...limits, patienceMs: 20 });
    await admit(budget, new FakeResponse('a'), ofLength(100));
    await admit(budget, new FakeResponse('b'), ofLength(50));
    expect(await codeOf(admit(budget, new FakeResponse('a'), ofLength(10)))).to.deep.equal(['TOO_MANY_REQUESTS', 5]);
    expect(await codeOf(admit(budget, new FakeResponse('c'), ofLength(10)))).to.deep.equal(['SERVICE_UNAVAILABLE', undefined]);
    const patient = new BodyBudget(limits);
    const held = new FakeResponse('a');
    await admit(patient, held, ofLength(100));
    for (let count = 0; count < 2; count++) admit(patient, new FakeResponse('a'), ofLength(10)).catch(() => {});
    expect(await codeOf(admit(patient, new FakeResponse('a'), ofLength(10)))).to.deep.equal(['TOO_MANY_REQUESTS', 5]);
    held.close();
  });

  it('that nobody waits for any more are forgotten, and let those behind them go on', async () => {
    const budget = new BodyBudget(limits);
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

  it('count as 1 MiB while their length is not known, and as what they were afterwards', async () => {
    const budget = new BodyBudget({ ...limits, totalBytes: 3 * mebibyte, bytesPerKey: 3 * mebibyte });
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

  describe('at the API', () => {
    const { api } = useApi({ env: { WORKER_ENABLED: 'false' } });

    it('of one user are refused beyond their share, while another is served', async () => {
      const [loud, quiet] = [await api.signUp(), await api.signUp()];
      const begin = () => {
        const headers = {
          authorization: `Bearer ${loud.token}`,
          'content-type': 'application/json',
          'content-length': String(mebibyte - 1),
        };
        const sent = request(`${api.url}/api/v1/workspaces`, { method: 'POST', headers, agent: false });
        sent.on('error', () => {});
        sent.write('{');
        return sent;
      };
      const unfinished = Array.from({ length: 10 }, begin);
      const refused = Promise.withResolvers<void>();
      for (const sent of unfinished) sent.once('response', ({ statusCode }) => statusCode === 429 && refused.resolve());
      await refused.promise;
      const body = { organizationId: 'abc', name: 'a', slug: 'aa' };
      expect((await api.request('POST', '/api/v1/workspaces', { token: quiet.token, body })).status).to.equal(403);
      for (const sent of unfinished) sent.destroy();
      await until(async () => (await api.request('POST', '/api/v1/workspaces', { token: loud.token, body })).status === 403);
    });
  });
});
