import { expect } from 'chai';
import { Best } from '../../domain/search/keep-best.ts';

describe('The best that are kept', () => {
  it('are the first of all of them in their order, whatever that is; of equal ones those that came first', () => {
    let seed = 7;
    const nextScore = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return (seed % 5) - 2;
    };
    for (let count = 1; count < 20; count++) {
      const best = new Best<number>(count);
      const offered = Array.from({ length: 50 }, (_, item) => ({ item, score: nextScore() }));
      for (const { score, item } of offered) best.offer(score, item);
      const ranked = offered.toSorted((one, other) => other.score - one.score);
      expect(best.ranked()).to.deep.equal(ranked.slice(0, count));
    }
  });
});
