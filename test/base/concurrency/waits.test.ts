import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { pause } from '../../../base/concurrency/pause.ts';
import { untilAborted } from '../../../base/concurrency/until-aborted.ts';
import { WaitQueue } from '../../../base/concurrency/wait-queue.ts';
import { whenClientLeaves } from '../../../base/concurrency/when-client-leaves.ts';
import { late, within } from '../../../base/concurrency/within.ts';

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error) => error,
  );
}

/** Fails if a promise rejects without a handler while `work` is done. */
async function expectHandled(work: () => Promise<void>): Promise<void> {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', note);
  try {
    await work();
    // Node tells of them when the microtasks are done.
    await nextTurn();
  } finally {
    process.off('unhandledRejection', note);
  }
  expect(unhandled).to.deep.equal([]);
}

describe('A wait queue', () => {
  it('hands each value to who has waited longest', async () => {
    const queue = new WaitQueue<string>();
    const waiting = [queue.wait(), queue.wait()];
    expect([queue.resolveNext('a'), queue.resolveNext('b'), queue.resolveNext('c')]).to.deep.equal([true, true, false]);
    expect(await Promise.all(waiting)).to.deep.equal(['a', 'b']);
  });

  it('wakes all who wait, and not who comes while it does', async () => {
    const queue = new WaitQueue();
    const again = queue.wait().then(() => void queue.wait());
    const other = queue.wait();
    queue.resolveAll();
    await Promise.all([again, other]);
    expect(queue.size).to.equal(1);
  });

  it('turns all away with the error', async () => {
    const queue = new WaitQueue();
    const waiting = [failureOf(queue.wait()), failureOf(queue.wait())];
    queue.rejectAll('closed');
    expect(await Promise.all(waiting)).to.deep.equal(['closed', 'closed']);
    expect(queue.size).to.equal(0);
  });
});

describe('Waiting until a signal aborts', () => {
  it('returns what the work returns, and rejects as it does', async () => {
    const { signal } = new AbortController();
    expect(await untilAborted(Promise.resolve('done'), signal)).to.equal('done');
    expect(await failureOf(untilAborted(Promise.reject('broken'), signal))).to.equal('broken');
  });

  it('rejects with the reason of the signal, and drops what the work does later', async () => {
    const work = Promise.withResolvers<void>();
    const stop = new AbortController();
    const failure = failureOf(untilAborted(work.promise, stop.signal));
    stop.abort('stopped');
    expect(await failure).to.equal('stopped');
    expect(await failureOf(untilAborted(Promise.resolve(), stop.signal))).to.equal('stopped');
    await expectHandled(async () => work.reject(new Error('late')));
  });
});

describe('A pause', () => {
  it('lasts its time, and ends at once when it is woken or was woken before', async () => {
    const wake = new AbortController();
    const begunAt = performance.now();
    await pause(30, wake.signal);
    expect(performance.now() - begunAt).to.be.at.least(25);
    const long = pause(600_000, wake.signal);
    wake.abort();
    await long;
    await pause(600_000, wake.signal);
  });
});

describe('Work with a time', () => {
  it('ends with its result, or its failure, if that comes in time', async () => {
    expect(await within(60_000, Promise.resolve('result'))).to.equal('result');
    expect(await failureOf(within(60_000, Promise.reject(new Error('no'))))).to.have.property('message', 'no');
  });

  it('is late after it, and a later failure is nobody’s', async () => {
    const work = Promise.withResolvers<never>();
    expect(await within(1, work.promise)).to.equal(late);
    await expectHandled(async () => work.reject(new Error('too late')));
  });
});

describe('The signal of a client that leaves', () => {
  const respond = async (handle: (response: ServerResponse) => void, client: (url: string) => Promise<unknown>) => {
    const server = createServer((_request, response) => handle(response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    await client(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.close();
  };

  it('aborts when it leaves before the end, also if it has left already', async () => {
    const left = Promise.withResolvers<AbortSignal[]>();
    const handle = (response: ServerResponse) => {
      const signal = whenClientLeaves(response);
      response.once('close', () => left.resolve([signal, whenClientLeaves(response, new Error('gone'))]));
      response.write('a part');
    };
    await respond(handle, async (url) => {
      const leaving = new AbortController();
      await fetch(url, { signal: leaving.signal });
      leaving.abort();
    });
    const [early, already] = await left.promise;
    expect([early?.aborted, already?.aborted, already?.reason.message]).to.deep.equal([true, true, 'gone']);
  });

  it('does not abort once the response is complete', async () => {
    const closed = Promise.withResolvers<boolean>();
    const handle = (response: ServerResponse) => {
      const signal = whenClientLeaves(response);
      response.once('close', () => closed.resolve(signal.aborted));
      response.end('all');
    };
    await respond(handle, async (url) => await (await fetch(url)).text());
    expect(await closed.promise).to.equal(false);
  });
});
