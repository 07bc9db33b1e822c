import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { WriteBulkhead } from '../../api/limits/write-bulkhead.ts';
import { Neighbours } from '../../concurrency/neighbours.ts';

describe('The share of an organization’s writes', () => {
  const { signal } = new AbortController();
  const workMs = 40;

  /** A bulkhead of two turns, in a process that serves these organizations. */
  function start(served: string[], share = 0.5): WriteBulkhead {
    const neighbours = new Neighbours(3_600_000);
    for (const organization of served) neighbours.note(organization);
    return new WriteBulkhead({ connections: 7, share, neighbours });
  }

  /** Makes a write that works for a moment. Returns when it had its turn. */
  async function write(writes: WriteBulkhead, key = 'loud', cost?: number): Promise<number> {
    const leave = await writes.enter(key, signal, cost);
    const at = performance.now();
    await delay(workMs);
    leave();
    return at;
  }

  async function waits(writes: WriteBulkhead, count: number, key = 'loud', cost?: number): Promise<number[]> {
    const startedAt = performance.now();
    const turns = await Promise.all(Array.from({ length: count }, () => write(writes, key, cost)));
    return turns.map((at) => at - startedAt);
  }

  it('is kept by rests between its turns, if more come than there are turns', async () => {
    // Each of two turns works for a quarter of the time.
    const turnMs = workMs * 4 * 0.9;
    const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0] = await waits(start(['loud', 'quiet']), 5);
    expect(Math.max(first, second)).to.be.lessThan(turnMs);
    expect(Math.min(third, fourth)).to.be.greaterThan(turnMs);
    expect(fifth).to.be.greaterThan(2 * turnMs);
  });

  it('is kept by longer rests after writes that cost more', async () => {
    // Rests of three times and of nine times the work.
    const [[, , usual = 0], [, , costly = 0]] = await Promise.all([
      waits(start(['loud', 'quiet']), 3) as Promise<[number, number, number]>,
      waits(start(['loud', 'quiet']), 3, 'loud', 3) as Promise<[number, number, number]>,
    ]);
    expect(costly).to.be.within(1.7 * usual, 4 * usual);
  });

  it('is not counted for as many as there are turns, one after another', async () => {
    const writes = start(['loud', 'quiet']);
    const startedAt = performance.now();
    for (let n = 0; n < 5; n++) await waits(writes, 2);
    expect(performance.now() - startedAt).to.be.lessThan(5 * workMs * 2.5);
  });

  it('is all there is if nobody else is served, or it is 1', async () => {
    // Side by side, so that a busy machine delays all of them.
    const bulkheads = [start(['loud', 'quiet']), start(['loud']), start(['loud', 'quiet'], 1)];
    const lasts = await Promise.all(bulkheads.map(async (writes) => Math.max(...(await waits(writes, 8)))));
    const [rested = 0, alone = 0, whole = 0] = lasts;
    // A quarter, but for the timers.
    expect(Math.max(alone, whole)).to.be.lessThan(rested / 2);
  });

  it('holds up no other organization, and ends with the last who wait', async () => {
    const writes = start(['loud', 'quiet'], 0.1);
    const order: string[] = [];
    const loud = waits(writes, 3).then(() => order.push('loud'));
    const quiet = waits(writes, 1, 'quiet').then(() => order.push('quiet'));
    await Promise.all([loud, quiet]);
    expect(order).to.deep.equal(['quiet', 'loud']);
    const [next = Infinity] = await waits(writes, 1);
    expect(next).to.be.lessThan(workMs * 5);
  });

  it('never makes a turn rest for longer than a second', async () => {
    const writes = start(['loud', 'quiet'], 0.000_001);
    const turns = await waits(writes, 4);
    expect(Math.max(...turns)).to.be.within(1_000, 1_800);
  });
});
