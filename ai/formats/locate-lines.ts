import { countCharacters } from '../characters.ts';

/** A line that text recognition has read, and the box in which it stands on its page: left, top, width and height, in ten-thousandths. */
export interface RecognizedLine {
  text: string;
  box: [left: number, top: number, width: number, height: number];
}

/** Where a recognized line stands: its first character in the text of the document and the one behind its last, and its box on the page. */
export type LocatedLine = [start: number, end: number, left: number, top: number, width: number, height: number];

/** A word, or one character of a script without blanks between words. */
const words = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]|(?:[\p{L}\p{N}]\p{M}*)+/gu;

interface PlacedWord {
  word: string;
  /** In code points of the page. */
  start: number;
  end: number;
}

/** How many words of a document are compared: print needs a few for each, a picture of one word again and again billions (hostile files). */
const maxCompared = 10_000_000;
/** How many lines of a document have a place: 500 full pages have 30,000. */
const maxLocated = 50_000;

/**
 * Finds recognized lines in the texts of their pages, which begin at given characters of the document: layout has put them in order, into
 * columns and into rows of tables. Each word of a text is of one line. A line whose words were torn apart has no place.
 */
export function locateLines(pages: string[], starts: number[], lines: RecognizedLine[][]): LocatedLine[] {
  const budget = { left: maxCompared };
  return lines
    .flatMap((some, index) => (some.length === 0 ? [] : locateOnPage(pages[index] ?? '', starts[index] ?? 0, some, budget)))
    .slice(0, maxLocated);
}

function locateOnPage(page: string, pageStart: number, lines: RecognizedLine[], budget: { left: number }): LocatedLine[] {
  const found = wordsOf(page);
  const places = Map.groupBy(found.keys(), (index) => found[index]?.word ?? '');
  const taken = new Set<number>();
  // A word that stands alone, such as a number in a cell, must not take that of a sentence.
  const longestFirst = lines
    .map(({ text, box }) => ({ words: wordsOf(text).map(({ word }) => word), box }))
    .sort((one, other) => other.words.length - one.words.length);
  const isAt = (wanted: string[], first: number) =>
    wanted.every((word, by) => {
      budget.left -= 1;
      return found[first + by]?.word === word && !taken.has(first + by);
    });
  const located: LocatedLine[] = [];
  for (const { words: whole, box } of longestFirst) {
    if (budget.left <= 0) break;
    // A word that a hyphen has parted is joined in the text.
    for (const wanted of [whole, whole.slice(0, -1), whole.slice(1)]) {
      const at = places.get(wanted[0] ?? '')?.find((first) => isAt(wanted, first));
      if (at === undefined) continue;
      for (const by of wanted.keys()) taken.add(at + by);
      const [first, last] = [found[at], found[at + wanted.length - 1]] as [PlacedWord, PlacedWord];
      located.push([pageStart + first.start, pageStart + last.end, ...box]);
      break;
    }
  }
  return located.sort(([one], [other]) => one - other);
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
