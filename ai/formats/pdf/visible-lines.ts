import { blankBelow, blanksOf, fillBlank, putBack } from './fill-blanks.ts';
import { type Box, isWithin } from './page-box.ts';
import type { PageCharacters } from './page-characters.ts';
import { dropCharacters, type RawLine, sliceLine } from './page-text.ts';
import { shownThresholds } from './pdf-thresholds.ts';

const { sameLine, samePlace, minCopyLength, maxLineLength, widelySet, widerBlank, maxLines } = shownThresholds;

/** Four letters or digits and more, or pairs of them, each apart. */
const spacedLetters = /(?<!\S)[\p{L}\p{N}]{1,2}(?: [\p{L}\p{N}]{1,2}){3,}(?!\S)/gu;

/** A line, and from where to where it goes. */
interface Extended {
  line: RawLine;
  left: number;
  right: number;
  y: number;
  size: number;
  /** Its place among the lines that are kept. */
  place: number;
}

/** The lines of a page without what is outside of its shown part. What is drawn in one run that begins or ends within stays whole. */
export function leaveOutUnshown(lines: RawLine[], shown: Box, characters: PageCharacters): RawLine[] {
  const isShown = (index: number | undefined) => {
    const center = characters.centerOf(index);
    return center === undefined || isWithin(shown, ...center);
  };
  return lines.map((line) => {
    const { first, last } = endsOf(line);
    // What is between two places of a page is upon the page.
    if (isShown(first) && isShown(last)) return line;
    const shownRuns = new Set(line.at.filter(isShown).map((index) => characters.runOf(index)));
    const outside = new Set(line.at.filter((index) => !isShown(index) && !shownRuns.has(characters.runOf(index))));
    return dropCharacters([line], (index) => outside.has(index))[0] as RawLine;
  });
}

/** The lines of a page without copies of letters at the same place, by which some programs draw bold type and shadows. */
export function leaveOutCopies(lines: RawLine[], characters: PageCharacters): RawLine[] {
  if (lines.length > maxLines) return lines;
  const seen: Extended[] = [];
  const kept: RawLine[] = [];
  for (const drawn of lines) {
    const line = putBack(drawn, characters);
    const extended = extend(line, characters, kept.length);
    const others = extended ? seen.filter((other) => mayBeCopy(extended, other)) : [];
    const copies = new Set(extended && others.flatMap((other) => copiesIn(extended, other, characters)));
    const upon = copies.size > 0 ? uponBlanks(line, copies, { others, kept, characters }) : [];
    const isCopy = copies.size + upon.length >= line.raw.replace(/\s/g, '').length;
    if (extended && !isCopy) seen.push(extended);
    for (const { index, letter, other, blank } of isCopy ? upon : []) {
      kept[other] = fillBlank(kept[other] as RawLine, blank, letter, index);
      copies.add(index);
    }
    const dropped = isCopy || !extended ? copies : copiesWithin(extended, characters);
    kept.push(dropCharacters([line], (index) => dropped.has(index))[0] as RawLine);
  }
  return kept;
}

/** What a copy of lines has upon blanks of these, with the places of the lines and of the blanks. */
function uponBlanks(
  { raw, at }: RawLine,
  copies: Set<number>,
  { others, kept, characters }: { others: Extended[]; kept: RawLine[]; characters: PageCharacters },
): { index: number; letter: string; other: number; blank: number }[] {
  const below = others.map(({ place }) => ({ other: place, blanks: blanksOf(kept[place] as RawLine, characters) }));
  return at.flatMap((index, place) => {
    const letter = raw[place] ?? '';
    if (copies.has(index) || /\s/.test(letter)) return [];
    const found = below.map(({ other, blanks }) => ({ index, letter, other, blank: blankBelow(blanks, index, characters) }));
    return found.flatMap(({ blank, ...rest }) => (blank === undefined ? [] : [{ ...rest, blank }])).slice(0, 1);
  });
}

/** The lines of a page with letters that are set one by one, wide apart, as words. */
export function joinLetters(lines: RawLine[], characters: PageCharacters): RawLine[] {
  return lines.map((line) => {
    const inner = [...line.raw.matchAll(spacedLetters)].flatMap(({ 0: spaced, index }) => {
      const isWords = (spaced.match(/\p{L}/gu)?.length ?? 0) * 2 >= spaced.replace(/\s/g, '').length;
      return isWords ? blanksWithin(line, index, index + spaced.length, characters) : [];
    });
    return inner.length === 0 ? line : dropPlaces(line, new Set(inner));
  });
}

/** Where blanks stand between the letters of words, in a stretch of a line of which the letters are wide apart. */
function blanksWithin(line: RawLine, start: number, end: number, characters: PageCharacters): number[] {
  const stretch = sliceLine(line, start, end);
  const size = extend(stretch, characters)?.size;
  const gaps = gapsOf(stretch, characters);
  const widths = gaps.map(({ width }) => width).sort((one, other) => one - other);
  const [narrowest, usual] = [widths[0], widths[Math.floor(widths.length / 2)]];
  if (size === undefined || narrowest === undefined || usual === undefined) return [];
  if (narrowest < widelySet.from * size || usual > widelySet.to * size) return [];
  return gaps.flatMap(({ width, blank }) => (blank !== undefined && width < usual * widerBlank ? [start + blank] : []));
}

function dropPlaces({ raw, at }: RawLine, dropped: Set<number>): RawLine {
  const places = at.map((_, place) => place).filter((place) => !dropped.has(place));
  return { raw: places.map((place) => raw[place]).join(''), at: places.map((place) => at[place] as number) };
}

/** How wide the gaps between the letters of a line are, with the place of a blank that is no character of its own. */
function gapsOf({ raw, at }: RawLine, characters: PageCharacters): { width: number; blank: number | undefined }[] {
  const gaps: { width: number; blank: number | undefined }[] = [];
  let end: number | undefined;
  let blank: number | undefined;
  for (const [place, index] of at.entries()) {
    if (/\s/.test(raw[place] ?? '')) {
      if (characters.isGenerated(index)) blank = place;
      else end = undefined;
      continue;
    }
    const extent = characters.extentOf(index);
    if (extent && end !== undefined) gaps.push({ width: extent[0] - end, blank });
    [end, blank] = [extent?.[1], undefined];
  }
  return gaps;
}

function mayBeCopy(line: Extended, other: Extended): boolean {
  return Math.abs(line.y - other.y) <= sameLine * line.size && line.left < other.right && line.right > other.left;
}

/** Which letters of a line stand where another line has the same. */
function copiesIn({ line, size }: Extended, { line: other }: Extended, characters: PageCharacters): number[] {
  const places = new Map<string, number[]>();
  for (const [place, index] of other.at.entries()) {
    const left = characters.extentOf(index)?.[0];
    const letter = other.raw[place] ?? '';
    if (left !== undefined) places.set(letter, [...(places.get(letter) ?? []), left]);
  }
  return line.at.filter((index, place) => {
    const left = characters.extentOf(index)?.[0];
    return left !== undefined && places.get(line.raw[place] ?? '')?.some((one) => Math.abs(one - left) <= samePlace * size);
  });
}

/** Which letters of a line stand where it has the same ones already, a word of them at least: a ligature has its letters at one place. */
function copiesWithin({ line: { raw, at }, size }: Extended, characters: PageCharacters): Set<number> {
  const places = new Map<string, [number, number][]>();
  const copies = new Set<number>();
  if (raw.length > maxLineLength) return copies;
  let run: number[] = [];
  for (const [place, index] of at.entries()) {
    const letter = raw[place] ?? '';
    const [x, y] = characters.originOf(index);
    if (/\s/.test(letter) || x === undefined || y === undefined) continue;
    const before = places.get(letter) ?? [];
    if (before.some(([left, height]) => Math.abs(left - x) <= samePlace * size && Math.abs(height - y) <= sameLine * size)) run.push(index);
    else run = [];
    if (run.length >= minCopyLength) for (const one of run) copies.add(one);
    places.set(letter, [...before, [x, y]]);
  }
  return copies;
}

function endsOf({ raw, at }: RawLine): { first: number | undefined; last: number | undefined } {
  return { first: at[raw.length - raw.trimStart().length], last: at[raw.trimEnd().length - 1] };
}

function extend(line: RawLine, characters: PageCharacters, place = 0): Extended | undefined {
  const { first, last } = endsOf(line);
  const [start, end] = [characters.extentOf(first), characters.extentOf(last)];
  const [, y] = characters.originOf(first);
  if (first === undefined || !start || !end || y === undefined) return undefined;
  const size = characters.fontSizeOf(first) * characters.formOf(first).scale;
  return { line, left: Math.min(start[0], end[0]), right: Math.max(start[1], end[1]), y, size, place };
}
