import { englishStopWords, wordsOf } from '../../../ai/words.ts';

const damping = 0.85;
const rounds = 50;

/** The best sentences by TextRank (Mihalcea and Tarau, 2004), in their order: shared words over the logarithms of lengths, then PageRank. */
export function textRank(sentences: string[], count: number): string[] {
  const words = sentences.map((sentence) => new Set(wordsOf(sentence).filter((word) => !englishStopWords.has(word))));
  const weights = words.map((mine, row) => words.map((theirs, column) => (row === column ? 0 : likeness(mine, theirs))));
  const sums = weights.map((row) => row.reduce((sum, weight) => sum + weight, 0));
  let scores = sentences.map(() => 1);
  for (let round = 0; round < rounds; round += 1)
    scores = scores.map((_, to) => {
      const received = scores.reduce(
        (sum, score, from) => sum + (sums[from] ? (score * (weights[from]?.[to] ?? 0)) / (sums[from] ?? 1) : 0),
        0,
      );
      return 1 - damping + damping * received;
    });
  const best = [...scores.keys()].sort((one, other) => (scores[other] ?? 0) - (scores[one] ?? 0)).slice(0, count);
  return best.sort((one, other) => one - other).map((index) => sentences[index] ?? '');
}

function likeness(mine: Set<string>, theirs: Set<string>): number {
  const lengths = Math.log(mine.size) + Math.log(theirs.size);
  return lengths > 0 ? mine.intersection(theirs).size / lengths : 0;
}
