import { expect } from 'chai';
import { csvCell } from '../../../clients/web/src/csv-cell.ts';

describe('A cell of a saved CSV file', () => {
  it('is no formula, whatever parts the columns of a spreadsheet', () => {
    expect(csvCell("=cmd|'/c calc'!A0")).to.equal(`"'=cmd|'/c calc'!A0"`);
    expect(csvCell("a;=cmd|'/c calc'!A0;b")).to.equal(`"a;'=cmd|'/c calc'!A0;b"`);
    expect(csvCell({ name: 'a;@SUM(1)\t+1' })).to.equal(`"{""name"":""a;'@SUM(1)\\t+1""}"`);
    expect(csvCell('a\n-1')).to.equal(`"a\n'-1"`);
    expect(csvCell('\uff1d1+1')).to.equal(`"'\uff1d1+1"`);
  });

  it('is otherwise as it is', () => {
    expect([null, 'a-b; c, "d"', 12, '2026-11-30'].map(csvCell)).to.deep.equal(['""', '"a-b; c, ""d"""', '"12"', '"2026-11-30"']);
  });
});
