export { countCharacters } from '../contract/characters.ts';

/** The index that is `count` characters (code points) after one in a text, and at most the text's end. Never within a surrogate pair. */
export function forward(text: string, index: number, count: number): number {
  let at = index;
  for (let passed = 0; passed < count && at < text.length; passed += 1) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return at;
}

/** The index that is `count` characters (code points) before one in a text, and at least 0. */
export function back(text: string, index: number, count: number): number {
  let at = index;
  for (let passed = 0; passed < count && at > 0; passed += 1) at -= (text.codePointAt(at - 2) ?? 0) > 0xffff ? 2 : 1;
  return at;
}
