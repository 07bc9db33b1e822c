/** The length of a text in characters, which are Unicode code points. */
export function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** The index at which the first `count` characters of a text end; never within a surrogate pair. */
export function endOfCharacters(text: string, count: number): number {
  if (text.length <= count) return text.length;
  let end = 0;
  for (let passed = 0; passed < count && end < text.length; passed += 1) end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  return end;
}
