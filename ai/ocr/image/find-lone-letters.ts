import type { Blob } from './blobs.ts';

/** In heights of small letters: how far the upper and lower edges of letters in a row may be apart, and how tall one is. */
const sameRow = 0.15;
const tallness = { least: 0.8, most: 1.8 };
/** How wide one is, in its own height; letters that touch are one blob. */
const breadth = { least: 0.15, most: 4 };

/**
 * The letters that have none beside them, as in the cells of a table: blobs of their size that have another at the same height in their row,
 * however far away. `letters` are those that are known, `height` is that of small ones. The picture is straight and without rules.
 */
export function findLoneLetters(blobs: Blob[], letters: Blob[], height: number): Blob[] {
  const known = new Set(letters);
  const rows = [...letters, ...blobs.filter((one) => !known.has(one) && isSized(one, height))].sort(
    (one, other) => one.bottom - other.bottom,
  );
  const off = Math.max(1, sameRow * height);
  const lone = new Set<Blob>();
  for (const [at, one] of rows.entries()) {
    for (const other of nextInRow(rows, at, off)) if (Math.abs(one.top - other.top) <= off) lone.add(one).add(other);
  }
  return [...lone].filter((one) => !known.has(one));
}

function isSized({ left, top, right, bottom }: Blob, letter: number): boolean {
  const [wide, high] = [right - left, bottom - top];
  const isTall = high >= tallness.least * letter && high <= tallness.most * letter;
  return isTall && wide >= breadth.least * high && wide <= breadth.most * high;
}

/** The blobs that end no lower than so far below one. */
function* nextInRow(rows: Blob[], at: number, off: number): Generator<Blob> {
  const lowest = (rows[at]?.bottom ?? 0) + off;
  for (let next = at + 1; next < rows.length && (rows[next] as Blob).bottom <= lowest; next += 1) yield rows[next] as Blob;
}
