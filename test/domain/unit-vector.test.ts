import { expect } from 'chai';
import { toUnitLength } from '../../domain/search/unit-vector.ts';

describe('A vector of unit length', () => {
  for (const scale of [1, 1e-30, 1e30, 1e-300, 1e300]) {
    it(`is made of numbers of about ${scale}`, () => {
      expect([...toUnitLength([3 * scale, -4 * scale, 0])]).to.deep.equal([Math.fround(0.6), Math.fround(-0.8), 0]);
    });
  }

  it('stays as it is if it is nothing but zeros', () => {
    expect([...toUnitLength([0, 0])]).to.deep.equal([0, 0]);
    expect([...toUnitLength([])]).to.deep.equal([]);
  });
});
