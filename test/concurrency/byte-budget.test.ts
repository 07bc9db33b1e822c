import { expect } from 'chai';
import { ByteBudget } from '../../concurrency/byte-budget.ts';

describe('The byte budget', () => {
  it('gives nothing to a caller that leaves in the moment in which it would be served', async () => {
    const budget = new ByteBudget({ totalBytes: 100, bytesPerKey: 100, maxWaiting: 10 });
    const acquire = (bytes: number, signal = new AbortController().signal) => budget.acquireWithin('key', bytes, 60_000, signal);
    const held = await acquire(100);
    const leaving = new AbortController();
    const left = acquire(10, leaving.signal).catch((error: unknown) => error);
    const behind = acquire(95);
    leaving.abort(new Error('left'));
    held?.release();
    expect(await left).to.have.property('message', 'left');
    expect(budget.bytes).to.equal(95);
    (await behind)?.release();
    expect(budget.bytes).to.equal(0);
  });
});
