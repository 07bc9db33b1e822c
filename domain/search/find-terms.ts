import { compose } from '../../text/compose.ts';
import type { Span } from '../characters.ts';
import { groups, joinGroups } from './identifiers.ts';
import { cut, joiner, pairedRun, possessive, spacedRun, termsOf, unspacedRun, wordsOf } from './terms.ts';

/**
 * Returns a function that finds the parts of a text whose terms are wanted, in order and without overlaps. It caches words, so drop it
 * after these texts.
 */
export function createTermFinder(wanted: Set<string>): (text: string) => Span[] {
  const known = new Map<string, boolean>();
  const isWanted = (part: string) => {
    const before = known.get(part);
    if (before !== undefined) return before;
    const is = termsOf(part).some((term) => wanted.has(term));
    known.set(part, is);
    return is;
  };
  return (text) => {
    const { text: composed, startOf, endOf } = compose(text);
    const found: Span[][] = [];
    const rest = composed
      .replace(possessive, (run) => blank(run, 0))
      .replace(pairedRun, (run, at: number) => blank(run, found.push(findPairs(run, at, wanted))))
      .replace(unspacedRun, (run, at: number) => blank(run, found.push(findWords(run, at, wanted))));
    for (const { 0: run, index: at } of rest.matchAll(groups))
      if (wanted.has(cut(joinGroups(run) ?? ''))) found.push([{ start: at, end: at + run.length }]);
    for (const { 0: run, index: at } of rest.matchAll(spacedRun)) found.push(findParts(run, at, wanted, isWanted));
    const spans = found.flat().map(({ start, end }) => ({ start: startOf(start), end: endOf(end - 1) }));
    return join(spans.sort((one, other) => one.start - other.start));
  };
}

/** Spaces of the same length as the run, so that indexes stay the same. */
function blank(run: string, _found: number): string {
  return ' '.repeat(run.length);
}

type IsWanted = (part: string) => boolean;

/** The wanted pairs of characters, or single characters, of a Chinese, Japanese or Korean run. */
function findPairs(run: string, at: number, wanted: Set<string>): Span[] {
  const characters = [...run];
  const spans: Span[] = [];
  let start = at;
  for (const [index, character] of characters.entries()) {
    const next = characters[index + 1] ?? '';
    if (wanted.has(character)) spans.push({ start, end: start + character.length });
    if (next !== '' && wanted.has(character + next)) spans.push({ start, end: start + character.length + next.length });
    start += character.length;
  }
  return spans;
}

/** The wanted words of a run that a dictionary divides: each word is a term. */
function findWords(run: string, at: number, wanted: Set<string>): Span[] {
  const words = wordsOf(run).filter(({ segment }) => wanted.has(cut(segment)));
  return words.map(({ segment, index }) => ({ start: at + index, end: at + index + segment.length }));
}

/** The wanted parts of an identifier, or all of it. */
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
