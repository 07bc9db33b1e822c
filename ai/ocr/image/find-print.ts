import type { Blob } from './blobs.ts';
import type { Box } from './grey.ts';

/** The print of a picture, in its pixels. */
export interface Print {
  /** The blobs that stand beside others of their size, as letters do. */
  letters: Blob[];
  /** The height of most letters: that of small ones. */
  height: number;
  /** How far lines lean, in degrees; positive if they fall to the right. Undefined if there are too few letters to tell. */
  skew: number | undefined;
  /** How many letters stand below each other rather than beside: more than `letters` if the page lies on its side. */
  stacked: number;
  /** How many letters rise above a small one beside them, as `d` does, and how many reach below it, as `p` does. */
  rising: number;
  falling: number;
}

/** A letter has at least so many pixels in height, and is no longer than so many times its height. */
const leastHeight = 4;
const mostLength = 4;
/** Letters of a line are no further apart, in their heights. */
const widestGap = 0.8;
/** How much taller one of two letters may be that stand beside each other. */
const mostTaller = 2.3;
/** Two letters whose heights differ by no more stand on one line. */
const sameHeight = 0.12;
/** How much taller a letter that rises or falls is than a small one, and how much of that is on one side. */
const extender = { least: 1.2, most: 2, oneSide: 0.75 };
/** Fewer pairs of letters do not tell how lines lean: each is off by a pixel. */
const fewestOfSkew = 25;
/** Fewer blobs of one height are no letters that stand alone. */
const fewestAlike = 6;

/** Finds the print among the blobs of a picture. */
export function findPrint(blobs: Blob[]): Print {
  const likely = blobs.filter(isLikely);
  const beside = pairs(likely);
  const stacked = pairs(likely.map(onItsSide)).length;
  const letters = [...new Set(beside.flat())];
  return { letters, height: heightOf(letters), skew: skewOf(beside), stacked, ...extendersOf(beside) };
}

/** Where much print stands together: a few lines, in the middle of what is densest. Undefined if there is none. */
export function findSample({ letters, height }: Print, picture: { width: number; height: number }): Box | undefined {
  const [wide, high] = [Math.min(picture.width, Math.round(height * 44)), Math.min(picture.height, Math.round(height * 9))];
  let best: { box: Box; count: number } | undefined;
  for (let top = 0; top + high <= picture.height; top += Math.max(1, Math.floor(high / 3))) {
    const inside = letters.filter((one) => one.top >= top && one.bottom <= top + high);
    for (let left = 0; left + wide <= picture.width; left += Math.max(1, Math.floor(wide / 3))) {
      const count = inside.filter((one) => one.left >= left && one.right <= left + wide).length;
      if (count > (best?.count ?? 0)) best = { box: { left, top, right: left + wide, bottom: top + high }, count };
    }
  }
  return best?.box;
}

function isLikely({ left, top, right, bottom, pixels }: Blob): boolean {
  const [width, height] = [right - left, bottom - top];
  const longer = Math.max(width, height);
  return longer >= leastHeight && longer <= mostLength * Math.max(3, Math.min(width, height)) && pixels > 0.12 * width * height;
}

function onItsSide({ left, top, right, bottom, pixels }: Blob): Blob {
  return { left: top, top: left, right: bottom, bottom: right, pixels };
}

/** Each blob with the next one to its right, if it is near. */
function pairs(blobs: Blob[]): [Blob, Blob][] {
  const size = Math.max(leastHeight, heightOf(blobs)) * 3;
  const cells = Map.groupBy(blobs, (one) => `${Math.floor(one.left / size)} ${Math.floor((one.top + one.bottom) / 2 / size)}`);
  return blobs.flatMap((one) => {
    const height = one.bottom - one.top;
    const [column, row] = [Math.floor(one.right / size), Math.floor((one.top + one.bottom) / 2 / size)];
    let nearest: Blob | undefined;
    for (const x of [column - 1, column, column + 1]) {
      for (const y of [row - 1, row, row + 1]) {
        for (const other of cells.get(`${x} ${y}`) ?? []) {
          if (other.left < one.right - height * 0.2 || other.left <= one.left || other.left > one.right + height * widestGap) continue;
          const taller = (other.bottom - other.top) / height;
          const common = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
          if (taller > mostTaller || taller < 1 / mostTaller || common < 0.5 * Math.min(height, other.bottom - other.top)) continue;
          if (!nearest || other.left < nearest.left) nearest = other;
        }
      }
    }
    return nearest ? [[one, nearest] as [Blob, Blob]] : [];
  });
}

/** The height that has as many pixels of letters above it as below. */
function heightOf(letters: Blob[]): number {
  const heights = letters.map(({ top, bottom }) => bottom - top).sort((one, other) => one - other);
  const half = heights.reduce((sum, one) => sum + one, 0) / 2;
  let sum = 0;
  for (const height of heights) {
    sum += height;
    if (sum >= half) return height;
  }
  return 0;
}

function extendersOf(beside: [Blob, Blob][]): Pick<Print, 'rising' | 'falling'> {
  let [rising, falling] = [0, 0];
  for (const pair of beside) {
    const [small, tall] = pair.toSorted((one, other) => one.bottom - one.top - (other.bottom - other.top)) as [Blob, Blob];
    const height = small.bottom - small.top;
    const more = tall.bottom - tall.top - height;
    if (more < (extender.least - 1) * height || more > (extender.most - 1) * height) continue;
    if (small.top - tall.top >= more * extender.oneSide) rising += 1;
    else if (tall.bottom - small.bottom >= more * extender.oneSide) falling += 1;
  }
  return { rising, falling };
}

/** The height of most blobs if they are letters, though none stands beside another: many, and most of one height. Otherwise 0. */
export function heightOfAlike(blobs: Blob[]): number {
  const likely = blobs.filter(isLikely);
  const height = heightOf(likely);
  const alike = likely.filter(({ top, bottom }) => Math.abs(bottom - top - height) <= Math.max(1, sameHeight * height));
  return alike.length >= fewestAlike && alike.length * 2 > likely.length ? height : 0;
}

function skewOf(beside: [Blob, Blob][]): number | undefined {
  let [along, down, counted] = [0, 0, 0];
  for (const [one, other] of beside) {
    const [height, next] = [one.bottom - one.top, other.bottom - other.top];
    const fall = (other.bottom + other.top - one.bottom - one.top) / 2;
    if (Math.abs(height - next) > Math.max(1, sameHeight * height) || Math.abs(fall) > 0.4 * height) continue;
    along += (other.left + other.right - one.left - one.right) / 2;
    down += fall;
    counted += 1;
  }
  return counted < fewestOfSkew ? undefined : (Math.atan2(down, along) * 180) / Math.PI;
}
