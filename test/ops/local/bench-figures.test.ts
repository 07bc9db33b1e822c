import { expect } from 'chai';
import { formatTable, toFigure } from '../../lab/bench/support/figure.ts';

describe('a figure of the bench', () => {
  const judge = (value: number, target: Parameters<typeof toFigure>[2], baseline?: number) =>
    toFigure('nDCG@10', { value, ...(baseline !== undefined && { baseline }), unit: '' }, target);

  it('is judged by what its value is to reach', () => {
    expect(judge(0.37, { atLeast: 0.37 })).to.include({ target: '≥ 0.37', ok: true });
    expect(judge(0.369, { atLeast: 0.37 }).ok).to.equal(false);
    expect(toFigure('p95', { value: 51, unit: 'ms' }, { atMost: 50 })).to.include({ target: '≤ 50 ms', ok: false });
  });

  it('reaches its target only if all parts of it are reached', () => {
    const target = { atLeast: 0.42, ratio: { atLeast: 0.99 } };
    expect(judge(0.43, target, 0.43)).to.include({ target: '≥ 0.42, ≥ 0.99 ×', ok: true });
    expect(judge(0.41, target, 0.41).ok).to.equal(false);
    expect(judge(0.43, target, 0.44).ok).to.equal(false);
  });

  it('has no target if there is nothing to judge it by', () => {
    expect(judge(0.4, {})).to.include({ target: '', ok: null });
    expect(judge(0.4, { ratio: { atLeast: 1 } })).to.include({ target: '', ok: null });
    expect(formatTable([judge(0.3, { atLeast: 0.37 })])).to.match(/MISSED$/);
  });
});
