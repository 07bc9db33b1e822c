import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { LargeResponses } from '../../api/limits/large-responses.ts';
import { Neighbours } from '../../concurrency/neighbours.ts';
import type { ApiError } from '../../contract/api-error.ts';
import type { Pace } from '../../domain/page.ts';

describe('Large responses', () => {
  const limits = {
    smallBytes: 10,
    perOrganizationBytes: 100,
    perUserBytes: 200,
    totalBytes: 150,
    bytesPerSecond: Number.POSITIVE_INFINITY,
    mostWaiting: 2,
    patienceMs: 200,
    readMs: 60_000,
    contendedReadMs: 60_000,
  };

  let users = 0;
  function request(userId = `user ${users++}`, { written = false } = {}) {
    const events = new EventEmitter();
    const left = new AbortController();
    const paces: Pace[] = [];
    return {
      signal: left.signal,
      userId,
      isWritten: () => written,
      hangUp: () => events.emit('close'),
      paceResponse: (pace: Pace) => void paces.push(pace),
      paces,
      onClose: (callback: () => void) => void events.once('close', callback),
      close: () => events.emit('close'),
      leave: () => left.abort(new Error('left')),
    };
  }

  /** Whether a promise has settled once everything that could run has. */
  async function isDone(promise: Promise<unknown>): Promise<boolean> {
    let done = false;
    promise.then(
      () => (done = true),
      () => (done = true),
    );
    await new Promise((resolve) => setImmediate(resolve));
    return done;
  }

  it('of one organization wait for each other, and nobody else does', async () => {
    const responses = new LargeResponses({ ...limits, patienceMs: 60_000 });
    const [first, second, other] = [request(), request(), request()];
    await responses.admit(first, 'loud', 80);
    const waiting = responses.admit(second, 'loud', 80);
    expect(await isDone(waiting)).to.equal(false);
    await responses.admit(other, 'quiet', 60);
    expect(responses.bytes).to.equal(140);
    first.close();
    await waiting;
    second.close();
    other.close();
    expect(responses.bytes).to.equal(0);
  });

  it('of all organizations together are bounded; those who wait take turns', async () => {
    const responses = new LargeResponses({ ...limits, patienceMs: 60_000 });
    const requests = { a: request(), b: request(), a2: request(), c: request() };
    await responses.admit(requests.a, 'a', 100);
    const b = responses.admit(requests.b, 'b', 100);
    const a2 = responses.admit(requests.a2, 'a', 100);
    expect([await isDone(b), await isDone(a2)]).to.deep.equal([false, false]);
    requests.a.close();
    expect([await isDone(b), await isDone(a2)]).to.deep.equal([true, false]);
    requests.b.close();
    await a2;
    requests.a2.close();
    expect(responses.bytes).to.equal(0);
  });

  it('that are small are not counted, and one that is larger than all limits is let through', async () => {
    const responses = new LargeResponses(limits);
    await responses.admit(request(), 'a', 10);
    expect(responses.bytes).to.equal(0);
    await responses.admit(request(), 'a', 1_000);
    expect(responses.bytes).to.equal(1_000);
  });

  it('are refused if too many wait, or one waits for too long', async () => {
    const responses = new LargeResponses(limits);
    await responses.admit(request(), 'a', 100);
    const waiting = [1, 2].map(() => responses.admit(request(), 'a', 100).catch((error: ApiError) => error.code));
    const refused = await responses.admit(request(), 'a', 100).catch((error: ApiError) => error.code);
    expect(refused).to.equal('TOO_MANY_REQUESTS');
    expect(await Promise.all(waiting)).to.deep.equal(['TOO_MANY_REQUESTS', 'TOO_MANY_REQUESTS']);
    expect(responses.bytes).to.equal(100);
  });

  it('are refused as the caller’s own, or as those of all', async () => {
    const responses = new LargeResponses({ ...limits, perUserBytes: 100, patienceMs: 20 });
    const codeOf = (userId: string, organizationId: string) =>
      responses.admit(request(userId), organizationId, 60).catch(({ code }: ApiError) => code);
    await responses.admit(request('ann'), 'a', 60);
    expect(await codeOf('ann', 'b')).to.equal('TOO_MANY_REQUESTS');
    expect(await codeOf('bob', 'a')).to.equal('TOO_MANY_REQUESTS');
    await responses.admit(request('cy'), 'b', 90);
    expect(await codeOf('dan', 'c')).to.equal('SERVICE_UNAVAILABLE');
    expect(await codeOf('ann', 'c')).to.equal('TOO_MANY_REQUESTS');
    const refused = [1, 2, 3].map(() => codeOf('dan', 'c'));
    expect(await refused[2]).to.equal('SERVICE_UNAVAILABLE');
    await Promise.all(refused);
  });

  it('are read no faster than allowed, which nobody else waits for', async () => {
    const responses = new LargeResponses({ ...limits, bytesPerSecond: 100, patienceMs: 60_000 });
    const first = request();
    const startedAt = performance.now();
    await responses.admit(first, 'loud', 100);
    first.close();
    expect(responses.bytes).to.equal(0);
    const next = responses.admit(request(), 'loud', 100);
    await responses.admit(request(), 'quiet', 50);
    expect(await isDone(next)).to.equal(false);
    await next;
    expect(performance.now() - startedAt).to.be.at.least(995);
  });

  it('are read more slowly while others are served', async () => {
    const bytesPerSecond = Number.POSITIVE_INFINITY;
    const neighbours = new Neighbours(60_000);
    neighbours.note('loud');
    const responses = new LargeResponses({ ...limits, bytesPerSecond, sharedBytesPerSecond: 100, patienceMs: 60_000 }, neighbours);
    const read = async () => {
      const reader = request();
      await responses.admit(reader, 'loud', 100);
      reader.close();
    };
    await read();
    await read();
    neighbours.note('quiet');
    await read();
    const next = read();
    expect(await isDone(next)).to.equal(false);
    await next;
  });

  describe('that are pages', () => {
    const shared = new Neighbours(Number.POSITIVE_INFINITY);
    for (const key of ['loud', 'quiet']) shared.note(key);
    const slow = {
      ...limits,
      perUserBytes: 1_000,
      perOrganizationBytes: 10_000,
      totalBytes: 10_000,
      pacedAboveBytes: 60,
      pacedWithinMs: 60_000,
      patienceMs: 60_000,
      sharedBytesPerSecond: 0.01,
    };

    /** Responses of which `loud` has read a page lately. */
    async function afterAPage(paced: Partial<typeof slow> = {}, reader = request()) {
      const responses = new LargeResponses({ ...slow, ...paced }, shared);
      expect(await responses.admitPage(reader, 'loud', 61)).to.equal(undefined);
      reader.close();
      return responses;
    }

    it('are read and written in parts, half of their time each, while others are served', async () => {
      const responses = await afterAPage({ sharedBytesPerSecond: 100 });
      const reader = request();
      const pace = await responses.admitPage(reader, 'loud', 100);
      for (const wait of [pace, ...reader.paces]) {
        const startedAt = performance.now();
        await wait?.(100);
        expect(performance.now() - startedAt).to.be.within(495, 950);
      }
      expect(reader.paces).to.have.lengthOf(1);
    });

    it('have no pace if nobody else is served, or they are small', async () => {
      const alone = new LargeResponses(slow, new Neighbours(60_000));
      const responses = await afterAPage();
      const readers = [request(), request(), request()] as const;
      expect(await alone.admitPage(readers[0], 'loud', 61)).to.equal(undefined);
      readers[0].close();
      expect(await alone.admitPage(readers[1], 'loud', 10)).to.equal(undefined);
      expect(await responses.admitPage(readers[2], 'loud', 60)).to.equal(undefined);
      expect(readers.flatMap(({ paces }) => paces)).to.deep.equal([]);
    });

    it('have none if they are the first for a while', async () => {
      const [member, stranger] = [request('member'), request('stranger')];
      const responses = await afterAPage({ pacedWithinMs: 100 }, member);
      expect(await responses.admitPage(stranger, 'other', 61)).to.equal(undefined);
      expect(await responses.admitPage(request('colleague'), 'loud', 61)).to.be.a('function');
      expect(await responses.admitPage(request('member'), 'own', 61)).to.be.a('function');
      const later = await afterAPage({ pacedWithinMs: 100 }, member);
      await delay(150);
      expect(await later.admitPage(request('member'), 'loud', 61)).to.equal(undefined);
    });

    it('do not wait while somebody waits for the room that they take', async () => {
      const responses = await afterAPage({ totalBytes: 150 });
      const reader = request();
      const pace = await responses.admitPage(reader, 'loud', 100);
      const waiting = responses.admit(request(), 'quiet', 100);
      expect(await isDone(waiting)).to.equal(false);
      expect(pace).to.be.a('function');
      await pace?.(100);
      reader.close();
      await waiting;
    });

    it('are not read any further once their client has left', async () => {
      const responses = await afterAPage();
      const reader = request();
      const pace = await responses.admitPage(reader, 'loud', 100);
      const next = pace?.(100).catch((error: Error) => error.message);
      reader.leave();
      expect(await next).to.equal('left');
      // What writes it looks for itself whether the client has left.
      expect(await reader.paces[0]?.(100)).to.equal(undefined);
    });
  });

  it('hold nothing for a client that leaves while it waits', async () => {
    const responses = new LargeResponses({ ...limits, patienceMs: 60_000 });
    const [first, second] = [request(), request()];
    await responses.admit(first, 'a', 100);
    const waiting = responses.admit(second, 'a', 100).catch((error: Error) => error.message);
    second.leave();
    expect(await waiting).to.equal('left');
    first.close();
    expect(responses.bytes).to.equal(0);
  });

  it('hold nothing for a client that has left before it asks, and others keep their places', async () => {
    const responses = new LargeResponses({ ...limits, patienceMs: 60_000, perUserBytes: 50 });
    const [elsewhere, waiting, left] = [request('ann'), request('ann'), request('bob')];
    await responses.admit(elsewhere, 'two', 50);
    const served = responses.admit(waiting, 'one', 50);
    left.leave();
    expect(await responses.admit(left, 'one', 50).catch((error: Error) => error.message)).to.equal('left');
    expect(responses.bytes).to.equal(50);
    elsewhere.close();
    expect(await isDone(served)).to.equal(true);
    waiting.close();
    expect(responses.bytes).to.equal(0);
  });

  it('hold nothing for a client that leaves in the moment in which it would be served', async () => {
    const responses = new LargeResponses({ ...limits, patienceMs: 60_000 });
    const [first, second] = [request(), request()];
    await responses.admit(first, 'a', 100);
    const waiting = responses.admit(second, 'a', 100).catch((error: Error) => error.message);
    second.leave();
    first.close();
    expect(await waiting).to.equal('left');
    expect(responses.bytes).to.equal(0);
  });

  it('let those behind them go on if they leave, or wait for too long', async () => {
    for (const patienceMs of [60_000, 20]) {
      const responses = new LargeResponses({ ...limits, patienceMs });
      const [first, large, small] = [request(), request(), request()];
      await responses.admit(first, 'a', 60);
      const gone = responses.admit(large, 'a', 80).catch(() => 'gone');
      const behind = responses.admit(small, 'a', 20);
      if (patienceMs === 60_000) large.leave();
      expect(await gone).to.equal('gone');
      await behind;
      expect(responses.bytes).to.equal(80);
      first.close();
      small.close();
    }
  });

  it('are given up with their connection if they are not read in time', async () => {
    const responses = new LargeResponses({ ...limits, readMs: 20 });
    const slow = request();
    await responses.admit(slow, 'a', 100);
    const next = request();
    await responses.admit(next, 'a', 100);
    expect(responses.bytes).to.equal(100);
    next.close();
  });

  it('of a user with many organizations wait for each other, and nobody else does', async () => {
    const fourMegabytes = 4 * 1024 * 1024;
    const responses = new LargeResponses({ patienceMs: 60_000, bytesPerSecond: Number.POSITIVE_INFINITY });
    const unread = Array.from({ length: 8 }, () => request('loud'));
    const admitted = unread.map((each, n) => responses.admit(each, `organization ${n}`, fourMegabytes));
    expect(await Promise.all(admitted.map(isDone))).to.deep.equal([true, true, ...Array(6).fill(false)]);
    for (const other of ['quiet', 'another', 'third']) await responses.admit(request(other), other, fourMegabytes);
    // Also in an organization in which the first user waits.
    const fourth = request('fourth');
    await responses.admit(fourth, 'organization 7', fourMegabytes);
    fourth.close();
    unread[0]?.close();
    expect(await isDone(admitted[2] as Promise<void>)).to.equal(true);
    for (const [n, each] of unread.entries()) {
      await admitted[n];
      each.close();
    }
  });

  it('that are left unread are ended if others wait for their room, those of who holds most first', async () => {
    const responses = new LargeResponses({ ...limits, patienceMs: 60_000, contendedReadMs: 20 });
    const ended: string[] = [];
    const hold = async (userId: string, organizationId: string, options?: { written: boolean }) => {
      const each = request(userId, options);
      each.onClose(() => ended.push(organizationId));
      await responses.admit(each, organizationId, 50);
      return each;
    };
    await hold('modest', 'one', { written: true });
    await hold('greedy', 'two', { written: true });
    await hold('greedy', 'three', { written: true });
    await responses.admit(request('quiet'), 'quiet', 50);
    expect(ended).to.have.lengthOf(1);
    expect(ended[0]).to.be.oneOf(['two', 'three']);
    expect(responses.bytes).to.equal(150);
  });

  it('that are not written yet are not ended, nor any while nobody waits', async () => {
    const responses = new LargeResponses({ ...limits, contendedReadMs: 5 });
    const [unread, busy] = [request('one', { written: true }), request('two')];
    let ended = 0;
    for (const each of [unread, busy]) each.onClose(() => (ended += 1));
    await responses.admit(busy, 'b', 100);
    await responses.admit(unread, 'a', 50);
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(ended).to.equal(0);
    unread.close();
    expect(await responses.admit(request(), 'c', 100).catch((error: ApiError) => error.code)).to.equal('SERVICE_UNAVAILABLE');
    expect(ended).to.equal(1);
    busy.close();
  });
});
