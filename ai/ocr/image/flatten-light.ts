import type { Grey } from './grey.ts';

/** How many tiles the shorter side has: a shadow is wider than one, and a line of print is not. */
const tilesOfShorterSide = 24;
const leastTile = 16;
/** So much of a tile is paper, also of one that is full of print. */
const shareOfPaper = 0.85;
/** Paper is no darker than this share of the brightest: what is darker is a picture, or print on a dark ground. */
const darkestPaper = 0.3;

/** Evens out the light of a picture: shadows and yellowed paper become white, and faint print dark. */
export function flattenLight(grey: Grey): Grey {
  const size = Math.max(leastTile, Math.round(Math.min(grey.width, grey.height) / tilesOfShorterSide));
  const paper = paperOf(grey, size);
  const ink = inkOf(grey, paper);
  const { data, width, height } = grey;
  const flat = new Uint8ClampedArray(data.length);
  const across = Array.from({ length: width }, (_, x) => between(x, size, paper.columns));
  const [lefts, rights, shares] = [
    Uint16Array.from(across, ([one]) => one),
    Uint16Array.from(across, ([, two]) => two),
    Float32Array.from(across, ([, , share]) => share),
  ];
  const levels = new Float32Array(paper.columns);
  const stretch = 255 / (1 - ink);
  for (let y = 0; y < height; y += 1) {
    const [above, below, share] = between(y, size, paper.rows);
    for (let column = 0; column < paper.columns; column += 1)
      levels[column] = paper.at(column, above) * (1 - share) + paper.at(column, below) * share;
    for (let x = 0, at = y * width; x < width; x += 1, at += 1) {
      const left = levels[lefts[x] as number] as number;
      const level = left + ((levels[rights[x] as number] as number) - left) * (shares[x] as number);
      flat[at] = ((data[at] as number) / level - ink) * stretch;
    }
  }
  return { data: new Uint8Array(flat.buffer), width, height };
}

/** The tiles on both sides of a pixel, and how far it is on the way to the second. */
function between(pixel: number, size: number, tiles: number): [number, number, number] {
  const at = Math.min(tiles - 1, Math.max(0, pixel / size - 0.5));
  const first = Math.floor(at);
  return [first, Math.min(tiles - 1, first + 1), at - first];
}

interface Paper {
  columns: number;
  rows: number;
  at(column: number, row: number): number;
}

/** The brightness of the paper in each tile. */
function paperOf({ data, width, height }: Grey, size: number): Paper {
  const [columns, rows] = [Math.ceil(width / size), Math.ceil(height / size)];
  const levels = new Float32Array(columns * rows);
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
  const kept = levels.map((level) => Math.max(level, brightest * darkestPaper));
  return { columns, rows, at: (column, row) => kept[row * columns + column] as number };
}

/** How dark print is, as a share of the paper around it, so that faint print can be made dark. At most three quarters. */
function inkOf({ data, width }: Grey, { columns, rows, at }: Paper): number {
  const size = width / columns;
  const histogram = new Uint32Array(256);
  let count = 0;
  for (let index = 0; index < data.length; index += 7) {
    const [column, row] = [Math.min(columns - 1, Math.floor((index % width) / size)), Math.min(rows - 1, Math.floor(index / width / size))];
    const level = Math.min(255, Math.round(((data[index] as number) / at(column, row)) * 255));
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
