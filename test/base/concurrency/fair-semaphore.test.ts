import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { FairSemaphore } from '../../../base/concurrency/fair-semaphore.ts';

describe('A fair semaphore', () => {
  /** Asks for each of `tenants`, one letter each; `holders` has those that got a place, in their order. */
  function ask(limit: number, tenants: string) {
    let minutes = 0;
    const semaphore = new FairSemaphore(limit, () => minutes * 60_000);
    const holders: { tenant: string; release: () => void }[] = [];
    const join = (tenant: string, signal?: AbortSignal) =>
      semaphore.acquire(tenant === '-' ? undefined : tenant, signal).then((release) => holders.push({ tenant, release }));
    for (const tenant of tenants) void join(tenant);
    const order = () => nextTurn().then(() => holders.map(({ tenant }) => tenant).join(''));
    const wait = (more: number) => {
      minutes += more;
    };
    return { semaphore, join, holders, order, wait };
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

  it('keeps no place from one that has been alone for ten minutes, and serves all who waited for it', async () => {
    const { semaphore, join, holders, order, wait } = ask(3, 'baaaaa');
    expect(await order()).to.equal('baa');
    wait(9);
    holders[0]?.release();
    expect(await order()).to.equal('baa');
    wait(2);
    expect(semaphore.isFull('a')).to.equal(false);
    void join('a');
    expect(await order()).to.equal('baaa');
    wait(20);
    void join('b');
    for (const { release } of holders) release();
    expect(await order()).to.equal('baaabaa');
    holders[4]?.release();
    expect(await order(), 'a place is kept for b, who was there').to.equal('baaabaa');
  });

  it('is crowded for a tenant that has too many waiters itself, and for all at four times as many', async () => {
    const { semaphore, order } = ask(1, 'aaa');
    await order();
    expect([semaphore.isCrowded('a', 2), semaphore.isCrowded('b', 2)]).to.deep.equal([true, false]);
    const many = ask(1, 'aaabbccdd');
    await many.order();
    expect([many.semaphore.waiting, many.semaphore.isCrowded('e', 2)]).to.deep.equal([8, true]);
    const shared = ask(2, 'baaaa');
    await shared.order();
    shared.holders[0]?.release();
    expect([shared.semaphore.isCrowded('a', 2), shared.semaphore.isCrowded('b', 2)]).to.deep.equal([true, false]);
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
