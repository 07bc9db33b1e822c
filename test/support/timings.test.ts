import { expect } from 'chai';
import { longestFirst, shardOf } from './timings.ts';

describe('The order of test files', () => {
  const timings = { a: 1_000, b: 60_000, c: 30_000, d: 30_000 };
  const files = Object.keys(timings);

  it('begins with those that take longest', () => {
    expect(longestFirst(files, timings)).to.deep.equal(['b', 'c', 'd', 'a']);
  });

  it('is parted into shards that have every file once and take about as long as each other', () => {
    const shards = [1, 2].map((index) => shardOf(files, { index, count: 2 }, timings));
    expect(shards).to.deep.equal([
      ['b', 'a'],
      ['c', 'd'],
    ]);
  });

  it('takes a file that no run has measured for one of ten seconds', () => {
    expect(longestFirst(['a', 'new', 'b'], timings)).to.deep.equal(['b', 'new', 'a']);
  });
});
