import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { embedText } from '../../ai/embed/embed-text.ts';
import { splitText } from '../../domain/chunking/split-text.ts';
import { createScorer, quantize, quantizedLength } from '../../domain/chunks/quantize.ts';
import { dotProduct, toUnitLength } from '../../domain/chunks/unit-vector.ts';
import { makeVectors, makeVectorsAround } from '../support/chunks.ts';

/** How many of the ten nearest of each query are among the best by quantized vectors. */
function recall(vectors: Float32Array[], queries: Float32Array[], candidates: number): number {
  const all = vectors.map(quantize).join('');
  const best = (score: (index: number) => number, count: number) => {
    const scores = vectors.map((_, index) => ({ index, score: score(index) }));
    return new Set(
      scores
        .sort((a, b) => b.score - a.score)
        .slice(0, count)
        .map(({ index }) => index),
    );
  };
  const found = queries.map((query) => {
    const nearest = best((index) => dotProduct(vectors[index] ?? query, query), 10);
    const scores = scoreAll(query, all);
    return nearest.intersection(best((index) => scores[index] ?? 0, candidates)).size;
  });
  return found.reduce((sum, count) => sum + count, 0) / (10 * queries.length);
}

function scoreAll(query: Float32Array, vectors: string): Float64Array {
  const codes = Buffer.from(` ${vectors} `, 'latin1');
  return createScorer(query)(codes, 1, codes.length - 1);
}

describe('Quantized vectors', () => {
  it('lead to the nearest pieces of real text, for short queries and long ones', () => {
    const packages = new URL('../../node_modules/', import.meta.url);
    const texts = readdirSync(packages)
      .map((name) => new URL(`${name}/README.md`, packages))
      .flatMap((file) => {
        try {
          return [readFileSync(file, 'utf8')];
        } catch {
          return [];
        }
      });
    const chunks = texts.flatMap((text) => splitText(text).map((chunk) => chunk.text)).slice(0, 2_500);
    expect(chunks).to.have.length(2_500);
    const words = chunks.filter((_, index) => index % 50 === 0).map((chunk) => chunk.split(/\s+/));
    const vectors = chunks.map((chunk) => toUnitLength(embedText(chunk)));
    for (const length of [3, 8, 60]) {
      const queries = words.map((found) => toUnitLength(embedText(found.slice(-length).join(' '))));
      expect(recall(vectors, queries, 80), `${length} words`).to.be.at.least(0.98);
      expect(recall(vectors, queries, 30), `${length} words, fewer candidates`).to.be.at.least(0.9);
    }
  });

  for (const dimensions of [65, 384, 1_536]) {
    it(`lead to the nearest of dense vectors of ${dimensions} dimensions, some of them far larger than others`, () => {
      const stretch = (vector: number[]) => toUnitLength(vector.map((value, i) => (i % 97 === 3 ? 6 : 1) * (value + 0.3)));
      const vectors = makeVectors(1, 2_000, dimensions).map(stretch);
      const queries = vectors.slice(0, 20).map((vector, seed) => {
        const [near = []] = makeVectorsAround([...vector], { seed, count: 1, spread: 0.5 / Math.sqrt(dimensions) });
        return toUnitLength(near);
      });
      expect(recall(vectors, queries, 80)).to.be.at.least(0.98);
    });
  }

  it('score about what the vectors themselves do, whatever they are like', () => {
    const dimensions = 256;
    const sparse = new Array(dimensions).fill(0).map((_, i) => (i % 64 === 5 ? 1 : 0));
    const one = new Array(dimensions).fill(0).with(200, -1);
    const [dense = [], query = []] = makeVectors(3, 2, dimensions);
    for (const vector of [sparse, one, dense]) {
      for (const other of [sparse, one, dense, query]) {
        const [exact, prepared] = [toUnitLength(vector), toUnitLength(other)];
        expect(scoreAll(prepared, quantize(exact))[0]).to.be.closeTo(dotProduct(exact, prepared), 0.05);
      }
    }
    const zeros = quantize(new Float32Array(dimensions));
    expect(zeros).to.have.length(quantizedLength(dimensions));
    expect(scoreAll(toUnitLength(dense), zeros)[0]).to.be.closeTo(0, 1e-6);
  });

  it('are text that can be printed', () => {
    for (const vector of makeVectors(5, 50, 33)) expect(quantize(toUnitLength(vector))).to.match(/^[#-|]{19}$/);
  });
});
