import type { Strip } from './picture.ts';

/** For each pixel how surely it is in the midst of a line of text, from 0 to 1. */
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

/** The lines of text in a map, in its pixels, each as the smallest box around its core, grown to the line (differentiable binarization). */
export function findRegions(map: TextMap): Strip[] {
  const boxes = outlinesOf(map).map(minBox);
  const cores = boxes.filter((box) => Math.min(box.width, box.height) >= minCore && meanWithin(map, box) >= minMean);
  return cores.map(grow);
}

/** The ends of the rows of each stretch of sure pixels that touch. */
function outlinesOf({ data, width, height }: TextMap): Point[][] {
  const outlines: Point[][] = [];
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
      while (x < width && (data[y * width + x] as number) > surely) x += 1;
      const touching = above.filter((run) => run.start <= x && run.end >= start);
      const id = touching.length > 0 ? root(touching[0]?.id as number) : outlines.push([]) - 1;
      parents[id] ??= id;
      for (const { id: other } of touching) {
        const joined = root(other);
        if (joined === id) continue;
        parents[joined] = id;
        outlines[id]?.push(...(outlines[joined] ?? []));
      }
      outlines[id]?.push([start, y], [x, y]);
      runs.push({ start, end: x, id });
    }
    above = runs;
  }
  return outlines.filter((_, index) => parents[index] === index);
}

/** The smallest box around some points: one of its sides lies on a side of their convex hull. */
function minBox(points: Point[]): Strip {
  const hull = convexHull(
    points.flatMap(([x, y]): Point[] => [
      [x, y],
      [x, y + 1],
    ]),
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

function meanWithin({ data, width: wide, height: high }: TextMap, { x, y, angle, width, height }: Strip): number {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  let [sum, count] = [0, 0];
  for (let across = 0.5; across < height; across += 1) {
    for (let along = 0.5; along < width; along += 1) {
      const [column, row] = [Math.floor(x + along * cos - across * sin), Math.floor(y + along * sin + across * cos)];
      if (column < 0 || row < 0 || column >= wide || row >= high) continue;
      sum += data[row * wide + column] as number;
      count += 1;
    }
  }
  return count === 0 ? 0 : sum / count;
}

function grow({ x, y, angle, width, height }: Strip): Strip {
  const by = (width * height * growth) / (2 * (width + height));
  const [cos, sin] = [Math.cos(angle) * by, Math.sin(angle) * by];
  return { x: x - cos + sin, y: y - sin - cos, angle, width: width + 2 * by, height: height + 2 * by };
}
