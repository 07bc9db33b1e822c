import { expect } from 'chai';
import { type Cell, countCommon, pairsOf, toCells } from '../../lab/bench/judges/cell-pairs.ts';

describe('Pairs of neighbouring cells', () => {
  it('skip what is empty, and compare letters and digits alone', () => {
    const pairs = ['rows\ta\tc', 'columns\ta\td', 'columns\tc\te5'];
    expect(
      pairsOf(
        toCells([
          ['A', ' ', 'c'],
          ['d.', '', ''],
          ['', '', 'E-5'],
        ]),
      ),
    ).to.have.members(pairs);
  });

  it('are there once for each neighbour of a cell of several rows or columns', () => {
    const wide: Cell = { text: 'head', rows: [0, 0], columns: [0, 1] };
    const [left, right] = [0, 1].map((at): Cell => ({ text: `c${at}`, rows: [1, 2], columns: [at, at] })) as [Cell, Cell];
    expect(pairsOf([wide, left, right])).to.have.members(['rows\tc0\tc1', 'columns\thead\tc0', 'columns\thead\tc1']);
  });

  it('are counted as often as they are known', () => {
    expect(countCommon(['a', 'a', 'b', 'c'], ['a', 'b', 'b'])).to.equal(2);
  });
});
