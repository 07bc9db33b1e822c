const surrogate = /[\ud800-\udfff]/;

/** Whether a text has surrogates. Most have none, which V8 knows of a Latin-1 text without reading it. */
export function hasSurrogates(text: string): boolean {
  return surrogate.test(text);
}

/** Whether Postgres stores a text as it is: one without NUL and lone surrogates. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** The length of a text in characters, as JSON Schema counts them: Unicode code points, not UTF-16 code units. */
export function countCharacters(text: string): number {
  if (!hasSurrogates(text)) return text.length;
  let count = 0;
  for (const _ of text) count++;
  return count;
}
