import { hasSurrogates } from '../contract/characters.ts';

export { countCharacters } from '../contract/characters.ts';

/** A part of a text, by its indexes. */
export interface Span {
  start: number;
  end: number;
}

/** The index that is `count` characters (code points) after one in a text, and at most the text's end. Never within a surrogate pair. */
export function forward(text: string, index: number, count: number): number {
  // No character is longer than two units. A look for pairs is many times as fast as steps by characters.
  if (!hasSurrogates(text.slice(index, index + 2 * count))) return Math.min(text.length, index + Math.max(0, count));
  let at = index;
  for (let passed = 0; passed < count && at < text.length; passed += 1) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return at;
}

/** The index that is `count` characters (code points) before one in a text, and at least 0. */
export function back(text: string, index: number, count: number): number {
  if (!hasSurrogates(text.slice(Math.max(0, index - 2 * count), index))) return Math.max(0, index - Math.max(0, count));
  let at = index;
  for (let passed = 0; passed < count && at > 0; passed += 1) at -= (text.codePointAt(at - 2) ?? 0) > 0xffff ? 2 : 1;
  return at;
}
