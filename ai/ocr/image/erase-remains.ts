import { type Blob, findBlobs } from './blobs.ts';
import type { Box, Grey } from './grey.ts';

const white = 255;
/** Remains are smaller than this share of small letters. */
const largest = 0.7;
/** How far, in pixels, what remains of a rule may be from what was erased of it. */
const reach = 2;
/** Where rules of both directions were erased. */
const ofBoth = 3;

/**
 * Takes out what remains of rules that were erased, in place: specks where they crossed, which would be read as signs, and part the lines of a
 * table for the engine. A full stop above an underline stays. `erased` tells of which rules each pixel was erased (`eraseRules`), `letter` is
 * the height of small letters. Returns the blobs that are left.
 */
export function eraseRemains(picture: Grey, erased: Uint8Array, letter: number, threshold: number): Blob[] {
  const { data, width, height } = picture;
  return findBlobs(picture, threshold).filter(({ left, top, right, bottom }) => {
    if (Math.max(right - left, bottom - top) > largest * letter) return true;
    const around = {
      left: Math.max(0, left - reach),
      top: Math.max(0, top - reach),
      right: Math.min(width, right + reach),
      bottom: Math.min(height, bottom + reach),
    };
    const rows = rowsOf(around, width);
    const near = rows.reduce((of, [start, end]) => erased.subarray(start, end).reduce((all, one) => all | one, of), 0);
    const isRemains = near === ofBoth;
    if (isRemains) for (const [start, end] of rows) data.fill(white, start, end);
    return !isRemains;
  });
}

/** From where to before where the rows of a box go in the pixels of a picture. */
function rowsOf({ left, top, right, bottom }: Box, width: number): [start: number, end: number][] {
  return Array.from({ length: bottom - top }, (_, row) => [(top + row) * width + left, (top + row) * width + right]);
}
