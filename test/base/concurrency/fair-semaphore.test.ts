import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { FairSemaphore } from '../../../base/concurrency/fair-semaphore.ts';

describe('A fair semaphore', () => {
  /** Asks for each of `tenants`, one letter each; `holders` has those that got a place, in their order. */
  function ask(limit: number, tenants: string) {
    const semaphore = new FairSemaphore(limit);
    const holders: { tenant: string; release: () => void }[] = [];
    const join = (tenant: string, signal?: AbortSignal) =>
      semaphore.acquire(tenant === '-' ? undefined : tenant, signal).then((release) => holders.push({ tenant, release }));
    for (const tenant of tenants) void join(tenant);
    const order = () => nextTurn().then(() => holders.map(({ tenant }) => tenant).join(''));
    return { semaphore, join, holders, order };
  }

  it('lets a tenant that is alone have every place, and so those who do not say who they are', async () => {
    expect(await ask(3, 'aaaa').order()).to.equal('aaa');
    expect(await ask(3, '----').order()).to.equal('---');
  });

  it('keeps the last place from each of several tenants', async () => {
    const { semaphore, join, holders, order } = ask(3, 'ab');
    await order();
    for (const { release } of holders) release();
    for (let n = 0; n < 5; n++) void join('a');
    expect(await order()).to.equal('abaa');
    expect([semaphore.held, semaphore.waiting, semaphore.isFull('a'), semaphore.isFull('b')]).to.deep.equal([2, 3, true, false]);
    await join('b');
    holders[2]?.release();
    expect(await order()).to.equal('abaaba');
  });

  it('serves tenants in turn, and what one asks for in its order', async () => {
    const { semaphore, holders, order } = ask(1, 'aaaabbc-');
    for (let n = 0; n < 8; n++) {
      await order();
      holders[n]?.release();
    }
    expect(await order()).to.equal('aabc-aba');
    expect([semaphore.held, semaphore.waiting]).to.deep.equal([0, 0]);
  });

  it('passes over who has left, and counts a second release once', async () => {
    const { semaphore, join, holders, order } = ask(1, 'a');
    const leaving = new AbortController();
    const left = join('b', leaving.signal).catch((reason: unknown) => reason);
    void join('c');
    leaving.abort('left');
    expect(await left).to.equal('left');
    await order();
    holders[0]?.release();
    holders[0]?.release();
    expect(await order()).to.equal('ac');
    expect(semaphore.held).to.equal(1);
  });
});
