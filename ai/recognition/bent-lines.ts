import type { Strip } from './picture.ts';

/** The rows of a core: where each begins and ends, and its height, in pixels of the map. */
export type Row = [start: number, end: number, y: number];

/** A line bends if its box is more than this many times as high as the line itself. */
const bent = 1.5;
/** Share of a core's columns that are no higher than its line: the others touch another line. */
const mostColumns = 0.9;
/** Distance between the places of a bend, between which it runs straight, in heights of the line. */
const stride = 2;

/**
 * A strip that follows a line which bends, as on the page of an open book: as high as the line, and with the places through which its middle
 * runs. A straight line keeps the box around its core.
 */
export function followBend(rows: Row[], box: Strip): Strip {
  const columns = columnsOf(rows, box);
  const heights = columns.map(({ top, bottom }) => bottom - top).sort((one, other) => one - other);
  const height = heights[Math.floor(heights.length * mostColumns)] ?? box.height;
  const count = Math.floor(box.width / (stride * height));
  if (box.height <= bent * height || count < 2) return box;
  const middles = Array.from({ length: count }, (_, index) => {
    const some = columns.slice(Math.floor((index * columns.length) / count), Math.floor(((index + 1) * columns.length) / count));
    return some.reduce((sum, { top, bottom }) => sum + (top + bottom) / 2, 0) / some.length - box.height / 2;
  });
  const inset = (box.height - height) / 2;
  const [x, y] = [box.x - inset * Math.sin(box.angle), box.y + inset * Math.cos(box.angle)];
  return {
    x,
    y,
    angle: box.angle,
    width: box.width,
    height,
    bend: { from: box.width / count / 2, step: box.width / count, offsets: middles },
  };
}

/** For each pixel along a box, how far up and down a core reaches in it. */
function columnsOf(rows: Row[], { x, y, angle, width }: Strip): { top: number; bottom: number }[] {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const tops = new Float64Array(Math.ceil(width) + 1).fill(Infinity);
  const bottoms = new Float64Array(tops.length).fill(-Infinity);
  for (const [start, end, row] of rows) {
    for (let at = start; at < end; at += 1) {
      const [right, down] = [at + 0.5 - x, row + 0.5 - y];
      const [along, across] = [Math.floor(right * cos + down * sin), down * cos - right * sin];
      tops[along] = Math.min(tops[along] as number, across - 0.5);
      bottoms[along] = Math.max(bottoms[along] as number, across + 0.5);
    }
  }
  return [...tops].flatMap((top, along) => (top < Infinity ? [{ top, bottom: bottoms[along] as number }] : []));
}
