import type { Collection } from '../support/collection.ts';

const [k1, b] = [1.2, 0.75];
const words = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** BM25 in memory over words as they are written: no stems, no stop words, no index. Returns the ids of the best documents for a query. */
export function plainBm25(documents: Collection['documents']): (query: string, count: number) => string[] {
  const all = documents.map(({ id, text }) => ({ id, words: words(text) }));
  const average = all.reduce((sum, document) => sum + document.words.length, 0) / all.length;
  return (query, count) => {
    const scores = new Map<string, number>();
    for (const word of new Set(words(query))) {
      const having = all.filter((document) => document.words.includes(word));
      const idf = Math.log(1 + (all.length - having.length + 0.5) / (having.length + 0.5));
      for (const { id, words: its } of having) {
        const frequency = its.filter((one) => one === word).length;
        const score = (idf * frequency * (k1 + 1)) / (frequency + k1 * (1 - b + (b * its.length) / average));
        scores.set(id, (scores.get(id) ?? 0) + score);
      }
    }
    return [...scores]
      .sort(([, one], [, other]) => other - one)
      .slice(0, count)
      .map(([id]) => id);
  };
}
