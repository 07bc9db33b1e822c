/** A part of a text, and how many tokens it has. */
interface Part {
  text: string;
  tokens: number;
}

/**
 * Cuts a text into parts of at most `most` tokens, near its middle, at white space if there is any. Together the parts are the whole text,
 * and no surrogate pair is cut.
 */
export function splitToFit(text: string, countTokens: (text: string) => number, most: number): Part[] {
  const tokens = countTokens(text);
  const cut = tokens > most ? findMiddle(text) : 0;
  // A single character always fits.
  if (cut === 0) return [{ text, tokens }];
  return [text.slice(0, cut), text.slice(cut)].flatMap((half) => splitToFit(half, countTokens, most));
}

function findMiddle(text: string): number {
  const middle = Math.floor(text.length / 2);
  const nearby = text.slice(middle, middle + Math.floor(text.length / 4));
  const space = nearby.search(/\s/);
  const cut = space > 0 ? middle + space : middle;
  return isLowSurrogate(text.charCodeAt(cut)) ? cut - 1 : cut;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

/** The mean of vectors, each counted by the tokens of its part, at unit length. */
export function meanOf(vectors: { vector: number[]; tokens: number }[]): number[] {
  const [first] = vectors;
  if (vectors.length === 1 && first) return first.vector;
  const sum = new Float64Array(first?.vector.length ?? 0);
  for (const { vector, tokens } of vectors) for (const [index, value] of vector.entries()) sum[index] = (sum[index] ?? 0) + value * tokens;
  const length = Math.hypot(...sum) || 1;
  return Array.from(sum, (value) => value / length);
}
