import { countCharacters } from '../characters.ts';

/** A line that text recognition has read, and the box in which it stands on its page: left, top, width and height, in ten-thousandths. */
export interface RecognizedLine {
  text: string;
  box: [left: number, top: number, width: number, height: number];
}

/** Where a recognized line stands: its first character in the text of the document and the one behind its last, and its box on the page. */
export type PlacedLine = [start: number, end: number, left: number, top: number, width: number, height: number];

/** A word, or one character of a script without blanks between words. */
const words = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]|(?:[\p{L}\p{N}]\p{M}*)+/gu;

interface PlacedWord {
  word: string;
  /** In code points of the page. */
  start: number;
  end: number;
}

/**
 * Finds recognized lines in the text of their page, which begins at a given character of the document: layout has put them in order, into
 * columns and into rows of tables. Each word of the text is of one line. A line whose words were torn apart has no place.
 */
export function placeLines(page: string, pageStart: number, lines: RecognizedLine[]): PlacedLine[] {
  const found = wordsOf(page);
  const places = Map.groupBy(found.keys(), (index) => found[index]?.word ?? '');
  const taken = new Set<number>();
  // A word that stands alone, such as a number in a cell, must not take that of a sentence.
  const longestFirst = lines
    .map(({ text, box }) => ({ words: wordsOf(text).map(({ word }) => word), box }))
    .sort((one, other) => other.words.length - one.words.length);
  const placed: PlacedLine[] = [];
  for (const { words: whole, box } of longestFirst) {
    // A word that a hyphen has parted is joined in the text.
    for (const wanted of [whole, whole.slice(0, -1), whole.slice(1)]) {
      const at = places
        .get(wanted[0] ?? '')
        ?.find((first) => wanted.every((word, by) => found[first + by]?.word === word && !taken.has(first + by)));
      if (at === undefined) continue;
      for (const by of wanted.keys()) taken.add(at + by);
      const [first, last] = [found[at], found[at + wanted.length - 1]] as [PlacedWord, PlacedWord];
      placed.push([pageStart + first.start, pageStart + last.end, ...box]);
      break;
    }
  }
  return placed.sort(([one], [other]) => one - other);
}

function wordsOf(text: string): PlacedWord[] {
  const found: PlacedWord[] = [];
  let [passed, at] = [0, 0];
  for (const { 0: word, index } of text.matchAll(words)) {
    at += countCharacters(text.slice(passed, index));
    passed = index;
    found.push({ word, start: at, end: at + countCharacters(word) });
  }
  return found;
}
