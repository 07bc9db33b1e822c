/** Japanese, Chinese and Korean, which joins particles to words: pairs of characters stand for words. */
export const pairedRun = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}々ー]+/gu;

/** Whether a text is Chinese, Japanese or Korean, or has words that are. */
export function hasPairedRun(text: string): boolean {
  return text.search(pairedRun) >= 0;
}

/** Other scripts without spaces between words, which only a dictionary divides. */
export const unspacedRun = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;

const dictionary = new Intl.Segmenter('th', { granularity: 'word' });

/** The words of a run of {@link unspacedRun}, with their indexes. */
export function divideRun(run: string): Intl.SegmentData[] {
  return [...dictionary.segment(run)].filter(({ isWordLike }) => isWordLike);
}

/** The pairs of neighboring characters of a run of {@link pairedRun}; of a single character, itself. */
export function pairsOf(run: string): string[] {
  const characters = [...run];
  return characters.length === 1 ? characters : characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}
