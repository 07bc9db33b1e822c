import type { Span } from '../characters.ts';
import { alignLetters, type Edit } from './align-letters.ts';
import type { FoldedText } from './fold-text.ts';

/** Of twelve letters one may be wrong, added or missing. */
const lettersPerEdit = 12;
const maxEdits = 24;
/** More edits than this in a window of so many letters are another word, not a misread one. */
const [windowLength, editsPerWindow] = [7, 2];
const lettersPerEditOfWord = 3;
const maxPlaces = 20;

/**
 * Finds a folded quote in folded recognized text. Digits, the characters between digits, and whole words must be the same. Returns the
 * position with the fewest edits; undefined if there is none, or the quote is shorter than twelve letters.
 */
export function findTolerantly(wanted: FoldedText, text: FoldedText, isBorder: (index: number) => boolean): Span | undefined {
  const edits = Math.min(maxEdits, Math.floor(wanted.folded.length / lettersPerEdit));
  if (edits === 0) return undefined;
  let best: { span: Span; edits: number } | undefined;
  for (const offset of placesOf(wanted.folded, text.folded, edits)) {
    const found = alignLetters(wanted.folded, text.folded, { offset, maxEdits: edits, isBorder });
    if (!found || found.edits.length >= (best?.edits ?? edits + 1)) continue;
    const { start, end } = found;
    if (areMisread(found.edits, wanted, text)) best = { span: { start, end }, edits: found.edits.length };
  }
  return best?.span;
}

/** Letters that look like two or three others. */
const shapes: Record<string, string> = { m: 'rri', n: 'ri', u: 'ii', d: 'cl', w: 'vv' };

/** A folded text in which letters are equal that text recognition confuses, such as `m` and `rn`, or `d` and `cl`. */
export function shapesOf({ folded, starts, ends }: FoldedText): FoldedText {
  const parts = Array.from({ length: folded.length }, (_, index) => shapes[folded[index] ?? ''] ?? folded[index] ?? '');
  const spread = (places: number[]) => parts.flatMap((part, index) => Array<number>(part.length).fill(places[index] ?? 0));
  return { folded: parts.join(''), starts: spread(starts), ends: spread(ends) };
}

/** Offsets at which the wanted text may begin. With at most n edits, one of n + 1 pieces of it must occur unchanged. */
function placesOf(wanted: string, text: string, edits: number): number[] {
  const places: number[] = [];
  const length = wanted.length / (edits + 1);
  for (let part = 0; part <= edits; part += 1) {
    const from = Math.floor(part * length);
    const piece = wanted.slice(from, Math.floor((part + 1) * length));
    for (let at = text.indexOf(piece); at >= 0 && places.length < maxPlaces; at = text.indexOf(piece, at + 1)) {
      if (!places.some((place) => Math.abs(place - (at - from)) <= edits)) places.push(at - from);
    }
  }
  return places;
}

/** Whether the edits look like misread letters: few in each window and in each word. */
function areMisread(edits: Edit[], wanted: FoldedText, text: FoldedText): boolean {
  if (areCrowded(edits, editsPerWindow)) return false;
  if (areCrowded(edits.filter(isGap), 1)) return false;
  const ours = edits.flatMap(({ ours: at }) => (at === undefined ? [] : [wordAt(wanted, at)]));
  const theirs = edits.flatMap(({ theirs: at }) => (at === undefined ? [] : [wordAt(text, at)]));
  return [...countEdits(ours), ...countEdits(theirs)].every(
    ([length, count]) => count < length && count <= Math.max(1, Math.floor(length / lettersPerEditOfWord)),
  );
}

/** Whether one of the texts lacks a letter. */
function isGap({ ours, theirs }: Edit): boolean {
  return ours === undefined || theirs === undefined;
}

function areCrowded(edits: Edit[], perWindow: number): boolean {
  return edits.some(({ at }, index) => (edits[index + perWindow]?.at ?? Number.POSITIVE_INFINITY) - at < windowLength);
}

/** The length of each word, and how many edits it has. */
function countEdits(words: Span[]): [length: number, count: number][] {
  const starts = new Set(words.map(({ start }) => start));
  return [...starts].map((start) => {
    const edited = words.filter((word) => word.start === start);
    return [(edited[0]?.end ?? start) - start, edited.length];
  });
}

/** The word around an index of a folded text, as the original text divides words. */
function wordAt({ folded, starts, ends }: FoldedText, at: number): Span {
  let [start, end] = [at, at + 1];
  while (start > 0 && (ends[start - 1] ?? 0) >= (starts[start] ?? 0)) start -= 1;
  while (end < folded.length && (starts[end] ?? 0) <= (ends[end - 1] ?? 0)) end += 1;
  return { start, end };
}
