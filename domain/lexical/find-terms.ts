import { joiner, pairedRun, spacedRun, termsOf, unspacedRun, wordsOf } from './terms.ts';

/** A part of a text, by its indexes. */
export interface Span {
  start: number;
  end: number;
}

/** Prepares to find terms in texts: the parts of a text whose terms are among them, in their order, not overlapping. */
export function createTermFinder(wanted: Set<string>): (text: string) => Span[] {
  const isWanted = (part: string) => termsOf(part).some((term) => wanted.has(term));
  return (text) => {
    const found: Span[][] = [];
    const rest = text
      .replace(pairedRun, (run, at: number) => blank(run, found.push(findPairs(run, at, wanted))))
      .replace(unspacedRun, (run, at: number) => blank(run, found.push(findWords(run, at, isWanted))));
    for (const { 0: run, index: at } of rest.matchAll(spacedRun)) found.push(findParts(run, at, wanted, isWanted));
    return join(found.flat().sort((one, other) => one.start - other.start));
  };
}

/** As long as the run, so that indexes stay. */
function blank(run: string, _found: number): string {
  return ' '.repeat(run.length);
}

type IsWanted = (part: string) => boolean;

/** Of a run of Chinese or Japanese the pairs of characters, or the single ones. */
function findPairs(run: string, at: number, wanted: Set<string>): Span[] {
  const characters = [...run];
  // As terms have them. All that `termsOf` does would take a second for the chunks of a search.
  const folded = characters.map((character) => character.normalize('NFKC'));
  const spans: Span[] = [];
  let start = at;
  for (const [place, character] of characters.entries()) {
    const [single, next] = [folded[place] ?? '', folded[place + 1] ?? ''];
    if (wanted.has(single)) spans.push({ start, end: start + character.length });
    if (next !== '' && wanted.has(single + next))
      spans.push({ start, end: start + character.length + (characters[place + 1] ?? '').length });
    start += character.length;
  }
  return spans;
}

function findWords(run: string, at: number, isWanted: IsWanted): Span[] {
  return wordsOf(run).flatMap(({ segment, index }) => (isWanted(segment) ? [{ start: at + index, end: at + index + segment.length }] : []));
}

/** The parts of an identifier that are wanted, or all of it. */
function findParts(run: string, at: number, wanted: Set<string>, isWanted: IsWanted): Span[] {
  if (!isWanted(run)) return [];
  const all = run.split(joiner);
  const parts: Span[] = [];
  let start = at;
  for (const part of all) {
    if (isWanted(part)) parts.push({ start, end: start + part.length });
    start += part.length + 1;
  }
  const ofParts = new Set(all.flatMap(termsOf));
  const isWhole = parts.length === 0 || parts.length === all.length || termsOf(run).some((term) => wanted.has(term) && !ofParts.has(term));
  return isWhole ? [{ start: at, end: at + run.length }] : parts;
}

/** Joins spans that touch or overlap. */
function join(spans: Span[]): Span[] {
  const joined: Span[] = [];
  for (const span of spans) {
    const last = joined.at(-1);
    if (last && span.start <= last.end) last.end = Math.max(last.end, span.end);
    else joined.push({ ...span });
  }
  return joined;
}
