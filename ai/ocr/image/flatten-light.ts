import type { Grey } from './grey.ts';

/** How many tiles the shorter side has: a shadow is wider than one, and a line of print is not. */
const tilesOfShorterSide = 24;
const leastTile = 16;
/** So much of a tile is paper, also of one that is full of print. */
const shareOfPaper = 0.85;
/** Paper is no darker than this share of the brightest: what is darker is a picture, or print on a dark ground. */
const darkestPaper = 0.3;

/** The light of so many rows is taken to be one. */
const sameLight = 4;

/** Evens out the light of a picture: shadows and yellowed paper become white, and faint print dark. */
export function flattenLight(grey: Grey): Grey {
  const { data, width, height } = grey;
  const size = Math.max(leastTile, Math.round(Math.min(width, height) / tilesOfShorterSide));
  const tiles = paperOf(grey, size);
  const even = evenLevels(inkOf(grey, tiles));
  const flat = new Uint8Array(data.length);
  let paper: Uint8Array = new Uint8Array(width);
  for (let y = 0; y < height; y += 1) {
    if (y % sameLight === 0) paper = paperOfRow(tiles, size, { y, width });
    for (let x = 0, at = y * width; x < width; x += 1, at += 1)
      flat[at] = even[((paper[x] as number) << 8) + (data[at] as number)] as number;
  }
  return { data: flat, width, height };
}

/** The level of the paper at each pixel of a row, between those of the tiles. */
function paperOfRow({ data, width: columns, height: rows }: Grey, size: number, { y, width }: { y: number; width: number }): Uint8Array {
  const [above, below, down] = between(y, size, rows);
  const levels = Float32Array.from({ length: columns }, (_, column) => {
    const [one, other] = [data[above * columns + column] as number, data[below * columns + column] as number];
    return one + (other - one) * down;
  });
  const row = new Uint8Array(width);
  for (let x = 0; x < width; x += 1) {
    const place = Math.min(columns - 1, Math.max(0, x / size - 0.5));
    const left = Math.floor(place);
    const level = levels[left] as number;
    row[x] = level + ((levels[left + 1] ?? level) - level) * (place - left);
  }
  return row;
}

/** The tiles on both sides of a pixel, and how far it is on the way to the second. */
function between(pixel: number, size: number, tiles: number): [number, number, number] {
  const at = Math.min(tiles - 1, Math.max(0, pixel / size - 0.5));
  const first = Math.floor(at);
  return [first, Math.min(tiles - 1, first + 1), at - first];
}

/** What each level becomes on each level of paper, at 256 times that of the paper. */
function evenLevels(ink: number): Uint8ClampedArray {
  const levels = new Uint8ClampedArray(256 * 256);
  for (let at = 0; at < levels.length; at += 1) levels[at] = ((at & 255) / Math.max(1, at >> 8) - ink) * (255 / (1 - ink));
  return levels;
}

/** The brightness of the paper in each tile of a picture. */
function paperOf({ data, width, height }: Grey, size: number): Grey {
  const [columns, rows] = [Math.ceil(width / size), Math.ceil(height / size)];
  const levels = new Uint8Array(columns * rows);
  const histogram = new Uint32Array(256);
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      histogram.fill(0);
      const [right, bottom] = [Math.min(width, (column + 1) * size), Math.min(height, (row + 1) * size)];
      let count = 0;
      for (let y = row * size; y < bottom; y += 1) {
        for (let at = y * width + column * size; at < y * width + right; at += 2)
          histogram[data[at] as number] = (histogram[data[at] as number] as number) + 1;
        count += Math.ceil((right - column * size) / 2);
      }
      levels[row * columns + column] = quantile(histogram, count, shareOfPaper);
    }
  }
  const brightest = Math.max(1, levels.toSorted()[Math.floor(levels.length * 0.9)] ?? 1);
  return { data: levels.map((level) => Math.max(level, brightest * darkestPaper)), width: columns, height: rows };
}

/** How dark print is, as a share of the paper around it, so that faint print can be made dark. At most three quarters. */
function inkOf({ data, width }: Grey, paper: Grey): number {
  const size = width / paper.width;
  const histogram = new Uint32Array(256);
  let count = 0;
  for (let index = 0; index < data.length; index += 31) {
    const [column, row] = [
      Math.min(paper.width - 1, Math.floor((index % width) / size)),
      Math.min(paper.height - 1, Math.floor(index / width / size)),
    ];
    const level = Math.min(255, Math.round(((data[index] as number) / (paper.data[row * paper.width + column] as number)) * 255));
    histogram[level] = (histogram[level] ?? 0) + 1;
    count += 1;
  }
  return Math.min(0.75, quantile(histogram, count, 0.01) / 255);
}

function quantile(histogram: Uint32Array, count: number, share: number): number {
  let sum = 0;
  for (const [level, number] of histogram.entries()) {
    sum += number;
    if (sum >= count * share) return level;
  }
  return 255;
}
