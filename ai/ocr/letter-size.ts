import type { Grey } from './image/grey.ts';

/** The height of small letters, in pixels, that the engine reads best, and those that it reads as well. */
export const bestLetter = 20;
const goodLetters = { least: 13, most: 34 };
export const mostEnlarged = 4;
const maxPixels = 24_000_000;

/** By how much a page whose small letters have this height is made larger or smaller. */
export function factorFor(letter: number, { width, height }: Grey): number {
  const isGood = letter >= goodLetters.least && letter <= goodLetters.most;
  return Math.min(isGood ? 1 : Math.min(mostEnlarged, bestLetter / letter), Math.sqrt(maxPixels / (width * height)));
}
