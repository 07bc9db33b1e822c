import type { Box, Grey } from './grey.ts';

/** A stretch of dark pixels that hang together, with the box around it: a letter, a part of one, a line, a speckle. */
export interface Blob extends Box {
  /** How many pixels are dark. */
  pixels: number;
}

/** Print is darker in an even light; what is not, on a page that is blank, is its grain. */
const lightestPrint = 190;

/** The level that parts print from paper best (Otsu), in an even light. */
export function thresholdOf({ data }: Grey): number {
  const histogram = new Float64Array(256);
  for (let at = 0; at < data.length; at += 3) histogram[data[at] as number] = (histogram[data[at] as number] as number) + 1;
  const total = Math.ceil(data.length / 3);
  const sum = histogram.reduce((all, count, level) => all + count * level, 0);
  let [dark, sumOfDark, best, threshold] = [0, 0, 0, 128];
  for (let level = 0; level < 256; level += 1) {
    const count = histogram[level] as number;
    dark += count;
    sumOfDark += count * level;
    if (dark === 0 || dark === total) continue;
    const between = dark * (total - dark) * (sumOfDark / dark - (sum - sumOfDark) / (total - dark)) ** 2;
    if (between > best) [best, threshold] = [between, level];
  }
  return Math.min(lightestPrint, threshold + 1);
}

/** The blobs of a picture: pixels darker than the threshold that touch, also at their corners. */
export function findBlobs({ data, width, height }: Grey, threshold: number): Blob[] {
  const blobs: Blob[] = [];
  const parents: number[] = [];
  const root = (index: number): number => {
    let at = index;
    while (parents[at] !== at) at = parents[at] = parents[parents[at] as number] as number;
    return at;
  };
  let above: number[] = [];
  for (let y = 0; y < height; y += 1) {
    const runs: number[] = [];
    let next = 0;
    for (let x = 0; x < width; x += 1) {
      if ((data[y * width + x] as number) >= threshold) continue;
      const start = x;
      while (x < width && (data[y * width + x] as number) < threshold) x += 1;
      let id = -1;
      // Runs are (start, end, blob); those of the row above that end before this one begins touch none that follows.
      while (next < above.length && (above[next + 1] as number) < start) next += 3;
      for (let at = next; at < above.length && (above[at] as number) <= x; at += 3) {
        const other = root(above[at + 2] as number);
        if (id === -1) id = other;
        else if (other !== id) {
          parents[other] = id;
          join(blobs[id] as Blob, blobs[other] as Blob);
        }
      }
      if (id === -1) {
        id = blobs.length;
        parents.push(id);
        blobs.push({ left: start, top: y, right: x, bottom: y + 1, pixels: 0 });
      }
      join(blobs[id] as Blob, { left: start, top: y, right: x, bottom: y + 1, pixels: x - start });
      runs.push(start, x, id);
    }
    above = runs;
  }
  return blobs.filter((_, index) => parents[index] === index);
}

function join(blob: Blob, other: Blob): void {
  blob.left = Math.min(blob.left, other.left);
  blob.top = Math.min(blob.top, other.top);
  blob.right = Math.max(blob.right, other.right);
  blob.bottom = Math.max(blob.bottom, other.bottom);
  blob.pixels += other.pixels;
}
