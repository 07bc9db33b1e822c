import type { Engine } from './engine.ts';
import { findDirection } from './find-direction.ts';
import { type Blob, findBlobs, thresholdOf } from './image/blobs.ts';
import { eraseRemains } from './image/erase-remains.ts';
import { eraseRules } from './image/erase-rules.ts';
import { findLean } from './image/find-lean.ts';
import { findLoneLetters } from './image/find-lone-letters.ts';
import { findPrint, heightOfAlike } from './image/find-print.ts';
import { flattenLight } from './image/flatten-light.ts';
import { type Box, type Grey, invert, medianOf, type Quarters, rotate, scale, smooth } from './image/grey.ts';
import { bestLetter, factorFor } from './letter-size.ts';

/** The longer side of the copy in which print is looked for: letters of an A4 page at 11 points have 7 pixels there. */
const sketchSide = 1_700;
/** In degrees: the engine reads lines that lean less as well. */
const leastSkew = 0.6;
const mostSkew = 20;
/** A page with more speckles for each letter is smoothed: clean ones have less than a tenth, the dots of small print. */
const mostSpeckles = 0.5;
const fewestPrinted = 50;

/** The level of a picture that may be light on dark. */
const darkGround = 110;

/** A page as the engine reads it best, and its letters. */
export interface PreparedPage {
  picture: Grey;
  /** The height of small letters, in pixels. */
  letter: number;
  letters: Box[];
  /** How far it may have to be turned, the likeliest first; none if it is upright for sure. */
  turns: Quarters[];
}

/**
 * Brings a page into the form that the engine reads best: upright, straight, in an even light, without rules and speckles, and with letters of
 * a good size. Undefined if there is nothing on it.
 */
export async function preparePage(taken: Grey, engine: Engine): Promise<PreparedPage | undefined> {
  const shown = Math.min(1, sketchSide / Math.max(taken.width, taken.height));
  const page = flattenLight((await isLightOnDark(taken, shown)) ? invert(taken) : taken);
  const sketch = shown < 1 ? await scale(page, shown) : page;
  const threshold = thresholdOf(sketch);
  const blobs = findBlobs(sketch, threshold);
  if (blobs.length === 0) return undefined;
  const { print, degrees, others } = await findDirection({ page, sketch, shown, asItIs: findPrint(blobs) }, engine);
  const turned = await rotate(page, degrees);
  const height = print.height || heightOfAlike(blobs);
  if (height === 0) return { picture: turned, letter: bestLetter, letters: [], turns: others };
  const letter = height / shown;
  const factor = factorFor(letter, page);
  // Before it is enlarged: then a speckle is as large as a part of a letter.
  const calm = isNoisy(turned, letter) ? await smooth(turned) : turned;
  const sized = factor === 1 ? calm : await scale(calm, factor);
  const lean = print.skew ?? findLean(await rotate(sketch, degrees), threshold);
  const isAskew = Math.abs(lean) > leastSkew && Math.abs(lean) < mostSkew;
  const cleaned = withoutRules(isAskew ? await rotate(sized, -lean) : sized, letter * factor);
  return { ...cleaned, turns: others };
}

/** Whether a dark picture has more print that is lighter than its ground: a screen, and no receipt on a dark table. */
async function isLightOnDark(picture: Grey, shown: number): Promise<boolean> {
  if (medianOf(picture) > darkGround) return false;
  const sketch = await scale(picture, shown);
  const lettersOf = (one: Grey) => {
    const flat = flattenLight(one);
    const { letters, stacked } = findPrint(findBlobs(flat, thresholdOf(flat)));
    // The page may lie on its side.
    return Math.max(letters.length, stacked);
  };
  return lettersOf(invert(sketch)) > lettersOf(sketch);
}

function isNoisy(page: Grey, letter: number): boolean {
  const blobs = findBlobs(page, thresholdOf(page));
  const speckles = blobs.filter((one) => isSpeckle(one, letter)).length;
  return speckles > mostSpeckles * Math.max(fewestPrinted, blobs.length - speckles);
}

function isSpeckle({ pixels }: Blob, letter: number): boolean {
  return pixels <= Math.max(3, (letter * letter) / 60);
}

/** Takes rules out, in place. Letters that touch them are found after that. */
function withoutRules(picture: Grey, expected: number): Omit<PreparedPage, 'turns'> {
  const threshold = thresholdOf(picture);
  const erased = eraseRules(picture, expected);
  const blobs = eraseRemains(picture, erased, expected, threshold).filter((one) => !isSpeckle(one, expected));
  const { letters, height } = findPrint(blobs);
  const letter = height || expected;
  return { picture, letter, letters: [...letters, ...findLoneLetters(blobs, letters, letter)] };
}
