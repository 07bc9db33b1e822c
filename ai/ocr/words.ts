import type { Word } from './engine.ts';
import type { Box } from './image/grey.ts';

/** How sure an engine is of some words, by their length; undefined if there are none. */
export function meanConfidence(words: Word[]): number | undefined {
  const characters = words.reduce((sum, { text }) => sum + text.length, 0);
  return characters === 0 ? undefined : words.reduce((sum, { text, confidence }) => sum + text.length * confidence, 0) / characters;
}

/** The share of letters that stand within words: less than 1 if print was not read. */
export function coverageOf(letters: Box[], words: Word[], letter: number): number {
  if (letters.length === 0) return 1;
  const rows = new Map<number, Word[]>();
  for (const word of words) {
    for (let row = Math.floor(word.top / letter); row <= Math.floor(word.bottom / letter); row += 1) {
      const there = rows.get(row);
      if (there) there.push(word);
      else rows.set(row, [word]);
    }
  }
  const isRead = ({ left, top, right, bottom }: Box) => {
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    return (rows.get(Math.floor(y / letter)) ?? []).some(
      (word) => x >= word.left - 2 && x <= word.right + 2 && y >= word.top - 2 && y <= word.bottom + 2,
    );
  };
  return letters.filter(isRead).length / letters.length;
}

/** Whether a word has a letter or a digit. */
export const isLegible = ({ text }: Word) => /[\p{L}\p{N}]/u.test(text);
