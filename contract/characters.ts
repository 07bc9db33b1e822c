/** The length of a text in characters, as JSON Schema counts them: Unicode code points, not UTF-16 code units. */
export function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
