import { hasSurrogates } from '../contract/characters.ts';

export { countCharacters } from '../contract/characters.ts';

/** A part of a text, by its indexes. */
export interface Span {
  start: number;
  end: number;
}

/** Moves an index forward by `count` characters (code points), at most to the text's end. Never ends within a surrogate pair. */
export function forward(text: string, index: number, count: number): number {
  // A character has at most two UTF-16 units. Searching for surrogates first is many times as fast as stepping by characters.
  if (!hasSurrogates(text.slice(index, index + 2 * count))) return Math.min(text.length, index + Math.max(0, count));
  let at = index;
  for (let passed = 0; passed < count && at < text.length; passed += 1) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return at;
}

/** Moves an index back by `count` characters (code points), at least to 0. */
export function back(text: string, index: number, count: number): number {
  if (!hasSurrogates(text.slice(Math.max(0, index - 2 * count), index))) return Math.max(0, index - Math.max(0, count));
  let at = index;
  for (let passed = 0; passed < count && at > 0; passed += 1) at -= (text.codePointAt(at - 2) ?? 0) > 0xffff ? 2 : 1;
  return at;
}
