import { compose } from '../../base/text/compose.ts';
import { possessive, simplify } from '../../base/text/fold.ts';
import { groups, joinGroups, nationalOf, phones } from '../../base/text/identifiers.ts';
import { languageOf } from '../../base/text/languages.ts';
import { divideRun, pairedRun, unspacedRun } from '../../base/text/scripts.ts';
import type { Span } from '../characters.ts';
import { cut, joiner, spacedRun, termsOf } from './terms.ts';

/**
 * Returns a function that finds the parts of a text that have a wanted term, in the text's language or one of `asked`: in order, without
 * overlaps. It caches words, so drop it after these texts.
 */
export function createTermFinder(wanted: Set<string>, asked: string[]): (text: string) => Span[] {
  const known = new Map<string, string[]>();
  const wantedIn = (language: string) => (part: string) => {
    const key = `${language} ${part}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const found = [...new Set([...asked, language])].flatMap((one) => termsOf(part, one)).filter((term) => wanted.has(term));
    known.set(key, found);
    return found;
  };
  return (text) => {
    const wantedOf = wantedIn(languageOf(text) ?? 'en');
    const { text: composed, startOf, endOf } = compose(text);
    const found: Span[][] = [];
    const rest = composed
      .replace(possessive, (run) => blank(run, 0))
      .replace(pairedRun, (run, at: number) => blank(run, found.push(findPairs(run, at, wanted))))
      .replace(unspacedRun, (run, at: number) => blank(run, found.push(findWords(run, at, wantedOf))));
    for (const [pattern, termOf] of [[groups, joinGroups] as const, [phones, nationalOf] as const])
      for (const { 0: run, index: at } of rest.matchAll(pattern))
        if (wanted.has(cut(termOf(run) ?? ''))) found.push([{ start: at, end: at + run.length }]);
    for (const { 0: run, index: at } of rest.matchAll(spacedRun)) found.push(findParts(run, at, wantedOf));
    const spans = found.flat().map(({ start, end }) => ({ start: startOf(start), end: endOf(end - 1) }));
    return join(spans.sort((one, other) => one.start - other.start));
  };
}

/** Spaces of the same length as the run, so that indexes stay the same. */
function blank(run: string, _found: number): string {
  return ' '.repeat(run.length);
}

/** The wanted terms of a part of a text. */
type WantedOf = (part: string) => string[];

/** The wanted pairs of characters, or single characters, of a Chinese, Japanese or Korean run. */
function findPairs(run: string, at: number, wanted: Set<string>): Span[] {
  const characters = [...run];
  const spans: Span[] = [];
  let start = at;
  for (const [index, character] of characters.entries()) {
    const next = characters[index + 1] ?? '';
    if (wanted.has(simplify(character))) spans.push({ start, end: start + character.length });
    if (next !== '' && wanted.has(simplify(character + next))) spans.push({ start, end: start + character.length + next.length });
    start += character.length;
  }
  return spans;
}

/** The wanted words of a run that a dictionary divides: each word is a term. */
function findWords(run: string, at: number, wantedOf: WantedOf): Span[] {
  const words = divideRun(run).filter(({ segment }) => wantedOf(segment).length > 0);
  return words.map(({ segment, index }) => ({ start: at + index, end: at + index + segment.length }));
}

/** The wanted parts of an identifier, or all of it. */
function findParts(run: string, at: number, wantedOf: WantedOf): Span[] {
  const ofRun = wantedOf(run);
  if (ofRun.length === 0) return [];
  const all = run.split(joiner);
  const parts: Span[] = [];
  const ofParts = new Set<string>();
  let start = at;
  for (const part of all) {
    const own = wantedOf(part);
    if (own.length > 0) parts.push({ start, end: start + part.length });
    for (const term of own) ofParts.add(term);
    start += part.length + 1;
  }
  const isWhole = parts.length === 0 || parts.length === all.length || ofRun.some((term) => !ofParts.has(term));
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
