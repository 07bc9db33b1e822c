import type { Engine } from './engine.ts';
import { findBlobs, thresholdOf } from './image/blobs.ts';
import { eraseRules } from './image/erase-rules.ts';
import { findPrint, findSample, type Print } from './image/find-print.ts';
import { type Box, crop, type Grey, type Quarters, rotate, scale } from './image/grey.ts';
import { bestLetter, mostEnlarged } from './letter-size.ts';
import { isLegible, meanConfidence } from './words.ts';

/** A page with fewer letters is read as soon as a sample of it. */
const fewForSample = 500;
/**
 * In upright print of Latin letters more of them rise than fall: about 5 times as many in English, 7 in German, 3 in French. In Cyrillic and
 * Greek print upside down it is up to 3.4 times as many, so with less than 4 a sample is read.
 */
const surelyRising = 4;
const fewestRising = 50;
/** In percent: print that stands upright is read more surely, also where it is dirty. */
const surelyUpright = 72;
const clearlyBetter = 12;

/** A page in an even light, and a smaller copy of it, in which its print is looked for. */
interface Sketched {
  page: Grey;
  sketch: Grey;
  /** By how much the sketch is smaller than the page. */
  shown: number;
  /** The print of the sketch. */
  asItIs: Print;
}

/** How far a page is to be turned, and its print in the sketch that is turned so. */
interface Direction {
  print: Print;
  degrees: Quarters;
  /** How far it may have to be turned from there, the likeliest first; none if the direction is sure. */
  others: Quarters[];
}

/**
 * Finds how a page is turned to be read: by how its letters stand beside each other, by how many of them rise and fall, and, if these do not
 * tell and it has many, by how surely a few of its lines are read in each direction. For a page with few letters it is left open.
 */
export async function findDirection(sketched: Sketched, engine: Engine): Promise<Direction> {
  const { sketch, asItIs } = sketched;
  const isSideways = asItIs.stacked > asItIs.letters.length;
  const likely: Quarters = isSideways ? 90 : 0;
  const turned = isSideways ? await rotate(sketch, 90) : sketch;
  const print = isSideways ? printOf(turned) : asItIs;
  if (print.rising >= Math.max(fewestRising, surelyRising * print.falling)) return { print, degrees: likely, others: [] };
  const sample = print.letters.length < fewForSample ? undefined : findSample(print, turned);
  if (sample === undefined) return { print, degrees: likely, others: [180, 90, 270] };
  const cut = await cutSample(sketched, likely, sample, print.height);
  const further = await trySample(cut, engine);
  if (further === 0) return { print, degrees: likely, others: [] };
  return { print: printOf(await rotate(turned, further)), degrees: ((likely + further) % 360) as Quarters, others: [] };
}

/** How far a sample is to be turned to be read; 0 if no direction is clearly better. */
async function trySample(sample: Grey, engine: Engine): Promise<Quarters> {
  const tried: { degrees: Quarters; confidence: number }[] = [];
  for (const degrees of [0, 180, 90, 270] as const) {
    const words = await engine.recognize(await rotate(sample, degrees), 'block');
    const confidence = meanConfidence(words.filter(isLegible)) ?? 0;
    if (confidence >= surelyUpright) return degrees;
    tried.push({ degrees, confidence });
  }
  const [best, next] = tried.sort((one, other) => other.confidence - one.confidence);
  return best && next && best.confidence >= next.confidence + clearlyBetter ? best.degrees : 0;
}

function printOf(sketch: Grey): Print {
  return findPrint(findBlobs(sketch, thresholdOf(sketch)));
}

/** What a box of the turned sketch shows, from the page itself, with letters of the size that is read best. */
async function cutSample({ page, shown }: Sketched, degrees: Quarters, { left, top, right, bottom }: Box, letter: number): Promise<Grey> {
  const turned = await rotate(page, degrees);
  const at = (place: number, most: number) => Math.min(most, Math.round(place / shown));
  const box = {
    left: at(left, turned.width),
    top: at(top, turned.height),
    right: at(right, turned.width),
    bottom: at(bottom, turned.height),
  };
  const sample = await scale(crop(turned, box), Math.min(mostEnlarged, (bestLetter * shown) / letter));
  eraseRules(sample, bestLetter);
  return sample;
}
