/** How alike two texts are, word by word in their order: 1 is equal, 0 shares nothing. Takes time by the product of their lengths. */
export function similarityOf(one: string, other: string): number {
  const [mine, theirs] = [wordsOf(one), wordsOf(other)];
  return mine.length + theirs.length === 0 ? 1 : (2 * sharedInOrder(mine, theirs)) / (mine.length + theirs.length);
}

function wordsOf(text: string): string[] {
  return text.split(/[\s|]+/).filter((word) => word !== '');
}

/** The length of the longest sequence that both have, with gaps. */
function sharedInOrder(mine: string[], theirs: string[]): number {
  let previous = new Uint32Array(theirs.length + 1);
  for (const word of mine) {
    const lengths = new Uint32Array(theirs.length + 1);
    for (let at = 0; at < theirs.length; at += 1)
      lengths[at + 1] = word === theirs[at] ? (previous[at] ?? 0) + 1 : Math.max(lengths[at] ?? 0, previous[at + 1] ?? 0);
    previous = lengths;
  }
  return previous[theirs.length] ?? 0;
}
