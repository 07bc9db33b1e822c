import { expect } from 'chai';
import { embedText } from '../../ai/embedding/embed-text.ts';

function cosine(a: string, b: string): number {
  const [left, right] = [embedText(a), embedText(b)];
  return left.reduce((sum, value, index) => sum + value * (right[index] ?? 0), 0);
}

describe('local embeddings', () => {
  it('have 256 finite dimensions and length 1, whatever the text', () => {
    for (const text of [
      'bees and honey',
      '',
      ' \n',
      '?!',
      'the of and',
      '7',
      '漢字',
      '🌊',
      'a\0b',
      '\ud83c',
      'x'.repeat(8000),
      'ab '.repeat(2600),
    ]) {
      const vector = embedText(text);
      expect(vector).to.have.length(256);
      expect(vector.every(Number.isFinite), text.slice(0, 10)).to.equal(true);
      expect(Math.hypot(...vector)).to.be.closeTo(1, 1e-3);
    }
  });

  it('are the same on every machine and in every version of the model', () => {
    const vector = embedText('Ravens nest on the catwalk between March and June.');
    const [largest] = vector.map((value, index) => [Math.abs(value), index] as const).sort(([a], [b]) => b - a);
    expect([largest, vector[0], vector[100]]).to.deep.equal([[0.318473, 126], 0.086936, 0]);
  });

  it('see through case, accents, forms, plurals and order', () => {
    expect(cosine('Café CALIBRATION', 'cafe calibration')).to.be.closeTo(1, 1e-3);
    expect(cosine('ﬁne ½', 'fine 1⁄2')).to.be.closeTo(1, 1e-3);
    expect(cosine('the hive inspections', 'inspecting hives')).to.be.above(0.95);
    expect(cosine("the keeper's lamp", 'lamp keeper')).to.be.closeTo(1, 1e-3);
    expect(cosine('1,200 seeds', '1200 seed')).to.be.closeTo(1, 1e-3);
    expect(cosine('Donau\u00addampf\u200bschiff\u2060fahrt', 'Donaudampfschifffahrt')).to.be.closeTo(1, 1e-3);
  });

  it('ignore stop words unless there is nothing else', () => {
    expect(cosine('what is the price of the honey', 'price honey')).to.be.closeTo(1, 1e-3);
    expect(cosine('to be or not to be', 'to be or not to be')).to.be.closeTo(1, 1e-3);
    expect(cosine('to be or not to be', 'where are you')).to.be.below(0.9);
  });

  it('find a misspelt word nearer than another one', () => {
    expect(cosine('barometer', 'barometre')).to.be.above(cosine('barometer', 'bicycle') + 0.3);
    expect(cosine('generator', 'generater')).to.be.above(0.25);
  });

  it('keep unrelated texts apart', () => {
    expect(Math.abs(cosine('formic acid against mites in the hive', 'the timetable of the night ferry'))).to.be.below(0.25);
    expect(cosine('机器学习', '机器学习模型')).to.be.above(cosine('机器学习', '渡轮时刻表') + 0.3);
  });

  it('cost milliseconds for a batch', () => {
    const texts = Array.from({ length: 32 }, (_, index) =>
      `Passage ${index}: the keeper trims wick ${index * 7} and writes it down. `.repeat(20).slice(0, 1200),
    );
    for (const text of texts) embedText(text);
    const startedAt = process.cpuUsage().user;
    for (const text of texts) embedText(text);
    expect((process.cpuUsage().user - startedAt) / 1000).to.be.below(300);
  });
});
