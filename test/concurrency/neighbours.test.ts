import { expect } from 'chai';
import { Neighbours } from '../../concurrency/neighbours.ts';

describe('Neighbours', () => {
  const hour = 3_600_000;

  it('are others than oneself that were served lately, whoever was last', () => {
    const neighbours = new Neighbours(hour);
    expect(neighbours.hasOthers('a')).to.equal(false);
    neighbours.note('a');
    neighbours.note('a');
    expect([neighbours.hasOthers('a'), neighbours.hasOthers('b')]).to.deep.equal([false, true]);
    for (const key of ['b', 'c', 'c']) neighbours.note(key);
    expect(['a', 'b', 'c'].map((key) => neighbours.hasOthers(key))).to.deep.equal([true, true, true]);
  });

  it('are forgotten after their time', () => {
    const neighbours = new Neighbours(0);
    neighbours.note('a');
    expect(neighbours.hasOthers('b')).to.equal(false);
  });
});
