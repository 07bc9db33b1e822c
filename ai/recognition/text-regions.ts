import { followBend, type Row } from './bent-lines.ts';
import type { Strip } from './picture.ts';

/** The probability of each pixel to be in the core of a line of text, from 0 to 1. */
export interface TextMap {
  data: Float32Array;
  width: number;
  height: number;
}

/** As PP-OCR's detector was trained: its map shows the core of each line, which is smaller than the line. */
const surely = 0.3;
const minMean = 0.5;
const growth = 1.6;
/** In pixels of the map. */
const minCore = 3;

type Point = [x: number, y: number];

/** Sure pixels that touch: their rows, and how sure they are together. */
interface Core {
  rows: Row[];
  sure: number;
}

/** The lines of text in a map, in its pixels, each as the smallest box around its core, grown to the line (differentiable binarization). */
export function findRegions(map: TextMap): Strip[] {
  return coresOf(map).flatMap(({ rows, sure }) => {
    const box = minBox(rows);
    if (Math.min(box.width, box.height) < minCore) return [];
    const strip = followBend(rows, box);
    return sure < minMean * strip.width * strip.height ? [] : [grow(strip)];
  });
}

function coresOf({ data, width, height }: TextMap): Core[] {
  const cores: Core[] = [];
  const parents: number[] = [];
  const root = (index: number): number => {
    let at = index;
    while (parents[at] !== at) at = parents[at] = parents[parents[at] as number] as number;
    return at;
  };
  let above: { start: number; end: number; id: number }[] = [];
  for (let y = 0; y < height; y += 1) {
    const runs: typeof above = [];
    for (let x = 0; x < width; x += 1) {
      if ((data[y * width + x] as number) <= surely) continue;
      const start = x;
      let sum = 0;
      for (; x < width && (data[y * width + x] as number) > surely; x += 1) sum += data[y * width + x] as number;
      const touching = above.filter((run) => run.start <= x && run.end >= start);
      const id = touching.length > 0 ? root(touching[0]?.id as number) : cores.push({ rows: [], sure: 0 }) - 1;
      parents[id] ??= id;
      const core = cores[id] as Core;
      for (const { id: other } of touching) {
        const joined = root(other);
        if (joined === id) continue;
        parents[joined] = id;
        add(core, cores[joined] as Core);
      }
      add(core, { rows: [[start, x, y]], sure: sum });
      runs.push({ start, end: x, id });
    }
    above = runs;
  }
  return cores.filter((_, index) => parents[index] === index);
}

function add(core: Core, { rows, sure }: Core): void {
  // Spread as arguments, those of a pattern would fill the stack.
  for (const row of rows) core.rows.push(row);
  core.sure += sure;
}

/** The smallest box around some rows: one of its sides lies on a side of their convex hull. */
function minBox(rows: Row[]): Strip {
  const hull = convexHull(
    rows.flatMap(([start, end, y]) =>
      [start, end].flatMap((x): Point[] => [
        [x, y],
        [x, y + 1],
      ]),
    ),
  );
  let best: Strip | undefined;
  for (const [index, [x, y]] of hull.entries()) {
    const [nextX, nextY] = hull[(index + 1) % hull.length] as Point;
    const box = boxAlong(hull, Math.atan2(nextY - y, nextX - x));
    if (!best || box.width * box.height < best.width * best.height) best = box;
  }
  return best as Strip;
}

/** The box around some points that leans as a side does, by 45 degrees at most. */
function boxAlong(points: Point[], side: number): Strip {
  const angle = side - (Math.round(side / (Math.PI / 2)) * Math.PI) / 2;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const [x, y] of points) {
    const [along, across] = [x * cos + y * sin, y * cos - x * sin];
    [left, right, top, bottom] = [Math.min(left, along), Math.max(right, along), Math.min(top, across), Math.max(bottom, across)];
  }
  return { x: left * cos - top * sin, y: left * sin + top * cos, angle, width: right - left, height: bottom - top };
}

function convexHull(points: Point[]): Point[] {
  const sorted = points.toSorted(([x, y], [otherX, otherY]) => x - otherX || y - otherY);
  const half = (some: Point[]) => {
    const chain: Point[] = [];
    for (const point of some) {
      while (chain.length > 1 && turn(chain.at(-2) as Point, chain.at(-1) as Point, point) <= 0) chain.pop();
      chain.push(point);
    }
    return chain.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

function turn([ax, ay]: Point, [bx, by]: Point, [cx, cy]: Point): number {
  return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);
}

function grow({ x, y, angle, width, height, bend }: Strip): Strip {
  const by = (width * height * growth) / (2 * (width + height));
  const [cos, sin] = [Math.cos(angle) * by, Math.sin(angle) * by];
  const grown = { x: x - cos + sin, y: y - sin - cos, angle, width: width + 2 * by, height: height + 2 * by };
  return bend ? { ...grown, bend: { ...bend, from: bend.from + by } } : grown;
}
