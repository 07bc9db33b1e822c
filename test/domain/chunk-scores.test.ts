import { expect } from 'chai';
import { ChunkScores } from '../../domain/lexical/chunk-scores.ts';

describe('Scores of chunks', () => {
  /** Adds scores to chunks in any order, as the terms of a query do, here and in a map. Returns the map. */
  function fill(scores: ChunkScores, documents: number, seed: number): Map<number, Map<number, number>> {
    const expected = new Map<number, Map<number, number>>();
    let state = seed;
    const random = (below: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
    for (let step = 0; step < 4 * documents; step++) {
      // Numbers beyond 32 bits, below zero, and in rows.
      const number = (random(documents) - 5) * ([1, 4_096, 2 ** 33][step % 3] as number);
      const index = random(step % 7 === 0 ? 4_000 : 5);
      const at = scores.reserve(number, index + 1) + index;
      scores.scores[at] = (scores.scores[at] as number) + 1;
      const ofDocument = expected.get(number) ?? new Map<number, number>();
      expected.set(number, ofDocument.set(index, (ofDocument.get(index) ?? 0) + 1));
    }
    return expected;
  }

  function expectSame(scores: ChunkScores, expected: Map<number, Map<number, number>>): void {
    const found = Array.from({ length: scores.documents }, (_, place) => scores.at(place));
    expect(found.map(({ number }) => number)).to.deep.equal([...expected.keys()]);
    for (const { number, start, end } of found) {
      const ofDocument = new Map([...scores.scores.subarray(start, end)].entries().filter(([, score]) => score > 0));
      expect(ofDocument, `of document ${number}`).to.have.all.keys([...(expected.get(number)?.keys() ?? [])]);
      for (const [index, score] of expected.get(number) ?? []) {
        expect(ofDocument.get(index), `${number} ${index}`).to.equal(score);
        expect(scores.scoreOf(number, index), `${number} ${index}`).to.equal(score);
      }
    }
  }

  it('are those that were added, however many documents there are and whichever chunk came first', () => {
    const scores = new ChunkScores();
    expectSame(scores, fill(scores, 3_000, 1));
  });

  it('are 0 of a chunk or a document that has none', () => {
    const scores = new ChunkScores();
    scores.scores[scores.reserve(7, 1)] = 0.5;
    expect([scores.scoreOf(7, 0), scores.scoreOf(7, 1), scores.scoreOf(8, 0), scores.scoreOf(Number.NaN, 0)]).to.deep.equal([0.5, 0, 0, 0]);
  });

  it('are not those of the search before, nor of one at the same time', () => {
    const before = new ChunkScores();
    fill(before, 500, 2);
    before.release();
    expect(before.scoreOf(0, 0)).to.equal(0);
    const [one, other] = [new ChunkScores(), new ChunkScores()];
    const expected = [fill(one, 400, 3), fill(other, 300, 4)] as const;
    expectSame(one, expected[0]);
    expectSame(other, expected[1]);
  });

  it('hold no more memory after a search of a large workspace than after others', () => {
    const large = new ChunkScores();
    for (let number = 1; number <= 400_000; number++) large.reserve(number, 5);
    large.release();
    expect(new ChunkScores().scores.byteLength).to.be.lessThan(16_000_000);
  });
});
