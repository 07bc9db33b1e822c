import type { PageCharacters } from './page-characters.ts';
import type { RawLine } from './page-text.ts';
import { shownThresholds } from './pdf-thresholds.ts';

const { samePlace, sameLine, maxLineLength } = shownThresholds;

/** A blank of a line, without those that PDFium adds. */
interface Blank {
  place: number;
  x: number;
  y: number;
}

export function blanksOf({ raw, at }: RawLine, characters: PageCharacters): Blank[] {
  if (raw.length > maxLineLength) return [];
  return at.flatMap((index, place) => {
    if (!/\s/.test(raw[place] ?? '') || characters.isGenerated(index)) return [];
    const [x, y] = characters.originOf(index);
    return x === undefined || y === undefined ? [] : [{ place, x, y }];
  });
}

/** The place of the blank upon which a character is drawn; undefined if there is none. */
export function blankBelow(blanks: Blank[], index: number, characters: PageCharacters): number | undefined {
  const [x, y] = characters.originOf(index);
  if (x === undefined || y === undefined || blanks.length === 0) return undefined;
  const size = characters.fontSizeOf(index) * characters.formOf(index).scale;
  return blanks.find((blank) => Math.abs(blank.x - x) <= samePlace * size && Math.abs(blank.y - y) <= sameLine * size)?.place;
}

/** A line in which a character takes the place of a blank. */
export function fillBlank({ raw, at }: RawLine, place: number, letter: string, index: number): RawLine {
  return { raw: raw.slice(0, place) + letter + raw.slice(place + 1), at: at.with(place, index) };
}

/**
 * A line whose characters are in their places, where a program goes back to draw them upon blanks: PDFium leaves out the copies of a cell that
 * is drawn twice, as `1 9` and as `1.9`, and adds what is left of it, so that it would be `1 9.`.
 */
export function putBack(line: RawLine, characters: PageCharacters): RawLine {
  const blanks = blanksOf(line, characters);
  if (blanks.length === 0) return line;
  let filled = line;
  let rightmost = Number.NEGATIVE_INFINITY;
  const moved = new Set<number>();
  for (const [place, index] of line.at.entries()) {
    const letter = line.raw[place] ?? '';
    const [x] = characters.originOf(index);
    if (x === undefined || /\s/.test(letter)) continue;
    const blank = x < rightmost ? blankBelow(blanks, index, characters) : undefined;
    rightmost = Math.max(rightmost, x);
    if (blank === undefined || blank > place || filled.at[blank] !== line.at[blank]) continue;
    filled = fillBlank(filled, blank, letter, index);
    moved.add(place);
  }
  if (moved.size === 0) return line;
  const places = filled.at.map((_, place) => place).filter((place) => !moved.has(place));
  return { raw: places.map((place) => filled.raw[place]).join(''), at: places.map((place) => filled.at[place] as number) };
}
