import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { Semaphore } from '../../../base/concurrency/semaphore.ts';

/** What became of promises by now. */
async function settled(promises: Promise<unknown>[]): Promise<string[]> {
  await nextTurn();
  const states = promises.map((promise) =>
    Promise.race([promise, Promise.resolve('pending')]).then((value) => (value === 'pending' ? value : 'done')),
  );
  return (await Promise.allSettled(states)).map((state) => (state.status === 'fulfilled' ? state.value : 'failed'));
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error) => error,
  );
}

describe('A semaphore', () => {
  it('lets its limit in, and the others in the order in which they asked', async () => {
    const semaphore = new Semaphore(2);
    const asked = Array.from({ length: 5 }, () => semaphore.acquire());
    expect(await settled(asked)).to.deep.equal(['done', 'done', 'pending', 'pending', 'pending']);
    expect([semaphore.held, semaphore.waiting]).to.deep.equal([2, 3]);
    (await asked[1])?.();
    expect(await settled(asked)).to.deep.equal(['done', 'done', 'done', 'pending', 'pending']);
    expect([semaphore.held, semaphore.waiting]).to.deep.equal([2, 2]);
  });

  it('is not overtaken by one who asks in the moment of a release', async () => {
    const semaphore = new Semaphore(1);
    const release = await semaphore.acquire();
    const first = semaphore.acquire();
    release();
    const second = semaphore.acquire();
    expect(await settled([first, second])).to.deep.equal(['done', 'pending']);
  });

  it('counts a holder that releases twice once', async () => {
    const semaphore = new Semaphore(1);
    const release = await semaphore.acquire();
    release();
    release();
    await semaphore.acquire();
    expect(await settled([semaphore.acquire()])).to.deep.equal(['pending']);
  });

  it('turns away whose signal aborts, with its reason, and serves who stands behind them', async () => {
    const semaphore = new Semaphore(1);
    const release = await semaphore.acquire();
    const hungUp = new AbortController();
    const left = failureOf(semaphore.acquire(hungUp.signal));
    const behind = semaphore.acquire();
    hungUp.abort('hung up');
    expect(await left).to.equal('hung up');
    expect(semaphore.waiting).to.equal(1);
    release();
    (await behind)();
    expect(semaphore.held).to.equal(0);
    expect(await failureOf(semaphore.acquire(hungUp.signal))).to.equal('hung up');
  });

  it('keeps what was granted before its signal aborted', async () => {
    const semaphore = new Semaphore(1);
    const release = await semaphore.acquire();
    const hungUp = new AbortController();
    const granted = semaphore.acquire(hungUp.signal);
    release();
    hungUp.abort();
    (await granted)();
    expect(semaphore.held).to.equal(0);
  });

  it('returns nothing to who has no patience left, and rejects only for the signal', async () => {
    const semaphore = new Semaphore(1);
    const release = await semaphore.acquire();
    const hungUp = new AbortController();
    expect(await semaphore.acquireWithin(5, hungUp.signal)).to.equal(undefined);
    expect(semaphore.waiting).to.equal(0);
    const left = failureOf(semaphore.acquireWithin(60_000, hungUp.signal));
    hungUp.abort('hung up');
    expect(await left).to.equal('hung up');
    release();
    const granted = await semaphore.acquireWithin(5, new AbortController().signal);
    expect(granted).to.be.a('function');
  });

  it('is released by work that fails', async () => {
    const semaphore = new Semaphore(1);
    expect(await failureOf(semaphore.run(() => Promise.reject('broken')))).to.equal('broken');
    expect(await semaphore.run(async () => semaphore.held)).to.equal(1);
    expect(semaphore.held).to.equal(0);
  });
});
