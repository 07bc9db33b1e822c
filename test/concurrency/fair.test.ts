import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { FairSemaphore } from '../../concurrency/fair-semaphore.ts';
import { SemaphoreClosed } from '../../concurrency/semaphore.ts';
import { TimeSlices } from '../../concurrency/time-slices.ts';

const patient = 60_000;

describe('A fair semaphore', () => {
  /** In which order callers come in who ask all at once, one letter for each, while somebody holds it. */
  async function orderOf(callers: string): Promise<string> {
    const semaphore = new FairSemaphore(1);
    const release = await semaphore.acquireWithin('', patient);
    let order = '';
    const served = [...callers].map(async (key) => {
      const own = await semaphore.acquireWithin(key, patient);
      order += key;
      own?.();
    });
    expect(semaphore.waiting).to.equal(callers.length);
    release?.();
    await Promise.all(served);
    expect(semaphore.waiting).to.equal(0);
    return order;
  }

  it('lets those of different keys take turns, whoever asked more often or earlier', async () => {
    expect(await orderOf('aaaab')).to.equal('abaaa');
    expect(await orderOf('aaabbbc')).to.equal('abcabab');
  });

  it('lets its limit in at once, and counts a holder that releases twice once', async () => {
    const semaphore = new FairSemaphore(2);
    const [first] = [await semaphore.acquireWithin('a', patient), await semaphore.acquireWithin('a', patient)];
    first?.();
    first?.();
    expect(await semaphore.acquireWithin('a', patient)).to.be.a('function');
    expect(await semaphore.acquireWithin('a', 1)).to.equal(undefined);
  });

  it('is not overtaken by one who asks in the moment of a release', async () => {
    const semaphore = new FairSemaphore(1);
    const release = await semaphore.acquireWithin('a', patient);
    const first = semaphore.acquireWithin('a', patient);
    release?.();
    const second = semaphore.acquireWithin('b', patient);
    const own = await first;
    expect(await Promise.race([second, nextTurn('waits')])).to.equal('waits');
    own?.();
    expect(await second).to.be.a('function');
  });

  it('forgets whose patience ends, and serves who stands behind them', async () => {
    const semaphore = new FairSemaphore(1);
    const release = await semaphore.acquireWithin('a', patient);
    const impatient = semaphore.acquireWithin('b', 1);
    const behind = semaphore.acquireWithin('b', patient);
    expect(await impatient).to.equal(undefined);
    expect(semaphore.waiting).to.equal(1);
    release?.();
    expect(await behind).to.be.a('function');
  });

  it('lets nobody in once it is closed, and counts down what is held', async () => {
    const semaphore = new FairSemaphore(1);
    const release = await semaphore.acquire('a');
    const waiting = Promise.allSettled([semaphore.acquire('a'), semaphore.acquire('b'), semaphore.acquireWithin('c', patient)]);
    semaphore.close();
    const [own, other, patiently] = await waiting;
    for (const each of [own, other]) expect((each as PromiseRejectedResult).reason).to.be.instanceOf(SemaphoreClosed);
    expect(patiently).to.deep.equal({ status: 'fulfilled', value: undefined });
    release();
    expect(semaphore.held).to.equal(0);
    expect(await semaphore.acquire('d').catch((error: unknown) => error)).to.be.instanceOf(SemaphoreClosed);
    expect(await semaphore.acquireWithin('d', patient)).to.equal(undefined);
  });
});

describe('Slices of time', () => {
  it('go to computations in turns, and leave the event loop a turn after each', async () => {
    const slices = new TimeSlices({ sliceMs: 1 });
    let order = '';
    let turns = 0;
    let computing = true;
    const turning = (async () => {
      for (; computing; turns += 1) await nextTurn();
    })();
    const compute = async (key: string, times: number) => {
      for (let n = 0; n < times; n += 1) {
        const endsAt = await slices.next(key);
        expect(endsAt - performance.now()).to.be.at.most(1);
        order += key;
      }
    };
    await Promise.all([compute('a', 4), compute('a', 4), compute('b', 2)]);
    computing = false;
    await turning;
    expect(order.slice(0, 4)).to.equal('abab');
    expect(turns).to.be.at.least(10);
  });
});
