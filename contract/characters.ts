/** The length of a text in characters as people and JSON Schema count them: Unicode code points, not UTF-16 units. */
export function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
