import { expect } from 'chai';
import { locateLines } from '../../ai/formats/locate-lines.ts';
import { processorSeconds } from '../support/hostile-texts.ts';

describe('The lines that text recognition has read', () => {
  const box = (top: number) => [0, top, 10, 10] as [number, number, number, number];

  it('are found in a text that is laid out: in columns, in rows, with a word that was parted', () => {
    const page = '😀 Prices of lamps\n| Lamp | 2 | 12 |\n| Cord | 12 | 2 |\nAll is guaranteed for two years.';
    const lines = ['12', 'All is guaran', 'teed for two years.', 'Cord', '2', 'Lamp 2', 'Prices of lamps', 'torn and apart', '12'];
    const placed = locateLines([page], [100], [lines.map((text, top) => ({ text, box: box(top) }))]);
    const characters = [...page];
    const texts = placed.map(([start, end, , top]) => [characters.slice(start - 100, end - 100).join(''), lines[top]]);
    expect(texts).to.deep.equal([
      ['Prices of lamps', 'Prices of lamps'],
      ['Lamp | 2', 'Lamp 2'],
      ['12', '12'],
      ['Cord', 'Cord'],
      ['12', '12'],
      ['2', '2'],
      ['All is', 'All is guaran'],
      ['for two years', 'teed for two years.'],
    ]);
  });

  it('take no time that grows with the square of a page on which all words are alike', async () => {
    const page = 'a '.repeat(18_000) + 'b '.repeat(21_000);
    const torn = Array.from({ length: 3_000 }, (_, top) => ({ text: 'a '.repeat(6) + 'b '.repeat(7), box: box(top) }));
    expect(await processorSeconds(() => locateLines([page, page, page], [0, 0, 0], [torn, torn, torn]))).to.be.below(5);
  });
});
