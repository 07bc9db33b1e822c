import type { Weights } from './weights.ts';

/** What stands for a blank, and before the first word. */
const blank = '▁';
/** How much less likely an unknown character is than the least likely piece, as SentencePiece has it. */
const unknownPenalty = 10;

/** Cuts a text into the numbers of the pieces that are together the likeliest (SentencePiece's unigram model, by Viterbi's algorithm). */
export function createTokenizer({ pieces, scores, unknown }: Weights): (text: string) => number[] {
  const longest = [...pieces.keys()].reduce((length, piece) => Math.max(length, piece.length), 0);
  const unknownScore = scores.reduce((least, score) => Math.min(least, score), 0) - unknownPenalty;
  return (text) => {
    const characters = [...blank.concat(text.normalize('NFKC').replaceAll(/\s+/g, ' ').trimStart()).replaceAll(' ', blank)];
    // For each end, the likeliest cut up to there: its score, where its last piece begins, and which that is.
    const best = new Float64Array(characters.length + 1).fill(Number.NEGATIVE_INFINITY, 1);
    const begins = new Int32Array(best.length);
    const last = new Int32Array(best.length);
    const offer = (begin: number, end: number, piece: number, score: number) => {
      const sum = (best[begin] as number) + score;
      if (sum <= (best[end] as number)) return;
      best[end] = sum;
      begins[end] = begin;
      last[end] = piece;
    };
    for (let begin = 0; begin < characters.length; begin += 1) {
      let spelled = '';
      for (let end = begin; end < characters.length && spelled.length < longest; end += 1) {
        spelled += characters[end];
        const piece = pieces.get(spelled);
        if (piece !== undefined) offer(begin, end + 1, piece, scores[piece] as number);
      }
      offer(begin, begin + 1, unknown, unknownScore);
    }
    const cut: number[] = [];
    for (let end = characters.length; end > 0; end = begins[end] as number) {
      // Unknown characters in a row are one piece.
      if (last[end] !== unknown || cut.at(-1) !== unknown) cut.push(last[end] as number);
    }
    return cut.reverse();
  };
}
