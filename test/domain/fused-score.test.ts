import { expect } from 'chai';
import { fuseScores, relevanceFilter, type Scored } from '../../domain/search/fused-score.ts';

describe('Meaning and words together', () => {
  const ranked = (chunks: Record<string, Scored>, known = 1) => {
    const scoreOf = fuseScores(Object.values(chunks), known);
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

  it('count words the less, the fewer of the query any chunk has', () => {
    const chunks = { worded: { score: 0.8, lexicalScore: 9 }, near: { score: 0.85, lexicalScore: 0 } };
    expect(ranked(chunks)).to.deep.equal(['worded', 'near']);
    expect(ranked(chunks, 0.2)).to.deep.equal(['near', 'worded']);
  });

  it('take a chunk without a comparable vector for as far as the furthest', () => {
    const chunks = {
      near: { score: 0.9, lexicalScore: 5 },
      unknown: { score: null, lexicalScore: 5 },
      far: { score: 0.5, lexicalScore: 4 },
    };
    expect(ranked(chunks)).to.deep.equal(['near', 'unknown', 'far']);
    const alone = fuseScores([{ score: null, lexicalScore: 5 }], 1);
    expect(alone({ score: null, lexicalScore: 5 })).to.satisfy(Number.isFinite);
  });

  it('stand a text that is the query itself, and one without a word of it', () => {
    const scoreOf = fuseScores(
      [
        { score: 1, lexicalScore: 0 },
        { score: 0.9, lexicalScore: 0 },
      ],
      1,
    );
    for (const score of [1, 0.9]) expect(scoreOf({ score, lexicalScore: 0 })).to.satisfy(Number.isFinite);
  });

  it('leave out what has no word of the query and is of another matter, by the model whose scale is known', () => {
    const far = { score: 0.79, lexicalScore: 0, text: 'The ferry to the island leaves the harbour at nine in the morning.' };
    const question = 'Where is the nearest station of the railway?';
    const isNear = relevanceFilter('local-multilingual-e5-small', question);
    expect(isNear(far)).to.equal(false);
    expect(isNear({ ...far, score: null })).to.equal(false);
    expect(isNear({ ...far, score: 0.81 })).to.equal(true);
    expect(isNear({ ...far, lexicalScore: 0.1 })).to.equal(true);
    expect(relevanceFilter('text-embedding-3-small', question)(far)).to.equal(true);
    const japanese = { score: 0.83, lexicalScore: 0, text: '島への船は毎朝九時に港を出ます。雨の日も出ます。' };
    const isNearInJapanese = relevanceFilter('local-multilingual-e5-small', '一番近い駅はどこですか');
    expect(isNearInJapanese(japanese), 'nearer to any passage').to.equal(false);
    expect(isNearInJapanese({ ...japanese, score: 0.85 })).to.equal(true);
  });

  it('keep what is in another language than the query, which shares no words with it', () => {
    const text = 'The ferry to the island leaves the harbour at nine in the morning.';
    const isFound = (query: string, score: number | null) =>
      relevanceFilter('local-multilingual-e5-small', query)({ score, lexicalScore: 0, text });
    expect(isFound('Wann fährt die Fähre auf die Insel ab?', 0.78)).to.equal(true);
    expect(isFound('Wann fährt die Fähre auf die Insel ab?', null)).to.equal(false);
    expect(isFound('去岛上的渡轮几点出发？', 0.78)).to.equal(true);
    expect(isFound('asdf qwertz', 0.79), 'of no language').to.equal(false);
  });
});
