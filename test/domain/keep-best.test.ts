import { expect } from 'chai';
import { keepBest } from '../../domain/chunks/keep-best.ts';

describe('The best that are kept', () => {
  it('are those of the highest scores, and of equal ones those that came first', () => {
    const best = keepBest(3);
    for (const [index, score] of [1, 6, 6, 6, 7].entries()) best.offer(score, 'document', index);
    expect(best.ranked().map(({ index }) => index)).to.deep.equal([4, 1, 2]);
  });

  it('are the first of all of them in their order, whatever that is', () => {
    let seed = 7;
    const nextScore = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return (seed % 5) - 2;
    };
    for (let count = 1; count < 20; count++) {
      const best = keepBest(count);
      const offered = Array.from({ length: 50 }, (_, index) => ({ documentId: 'document', index, score: nextScore() }));
      for (const { score, documentId, index } of offered) best.offer(score, documentId, index);
      const ranked = offered.toSorted((one, other) => other.score - one.score);
      expect(best.ranked()).to.deep.equal(ranked.slice(0, count));
    }
  });
});
