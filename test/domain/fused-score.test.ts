import { expect } from 'chai';
import { fuseScores, isNear, type Scored } from '../../domain/search/fused-score.ts';

describe('Meaning and words together', () => {
  const ranked = (chunks: Record<string, Scored>) => {
    const scoreOf = fuseScores(Object.values(chunks));
    return Object.entries(chunks)
      .sort(([, one], [, other]) => scoreOf(other) - scoreOf(one))
      .map(([name]) => name);
  };

  it('prefer the words where meaning hardly differs, however few chunks there are', () => {
    const named = { score: 0.85, lexicalScore: 9 };
    expect(ranked({ near: { score: 0.86, lexicalScore: 0 }, named })).to.deep.equal(['named', 'near']);
    expect(ranked({ near: { score: 0.86, lexicalScore: 0 }, named, other: { score: 0.7, lexicalScore: 0 } })[0]).to.equal('named');
  });

  it('prefer what is much nearer to what has more of the words', () => {
    expect(ranked({ worded: { score: 0.8, lexicalScore: 9 }, near: { score: 0.9, lexicalScore: 3 } })).to.deep.equal(['near', 'worded']);
  });

  it('take a chunk without a comparable vector for as far as the furthest', () => {
    const chunks = {
      near: { score: 0.9, lexicalScore: 5 },
      unknown: { score: null, lexicalScore: 5 },
      far: { score: 0.5, lexicalScore: 4 },
    };
    expect(ranked(chunks)).to.deep.equal(['near', 'unknown', 'far']);
    const alone = fuseScores([{ score: null, lexicalScore: 5 }]);
    expect(alone({ score: null, lexicalScore: 5 })).to.satisfy(Number.isFinite);
  });

  it('stand a text that is the query itself, and one without a word of it', () => {
    const scoreOf = fuseScores([
      { score: 1, lexicalScore: 0 },
      { score: 0.9, lexicalScore: 0 },
    ]);
    for (const score of [1, 0.9]) expect(scoreOf({ score, lexicalScore: 0 })).to.satisfy(Number.isFinite);
  });

  it('leave out what has no word of the query and is of another matter, by the model whose scale is known', () => {
    const far = { score: 0.79, lexicalScore: 0 };
    expect(isNear('local-multilingual-e5-small', far)).to.equal(false);
    expect(isNear('local-multilingual-e5-small', { ...far, score: null })).to.equal(false);
    expect(isNear('local-multilingual-e5-small', { ...far, score: 0.81 })).to.equal(true);
    expect(isNear('local-multilingual-e5-small', { ...far, lexicalScore: 0.1 })).to.equal(true);
    expect(isNear('text-embedding-3-small', far)).to.equal(true);
  });
});
