import type { Grey } from './grey.ts';

/** In degrees: how far what leans is looked for. */
const most = 10;
const step = 0.2;
/** Lines are this many times sharper as they lean than as they are, if they lean for sure. */
const clearly = 1.1;

/**
 * How far the lines of a picture lean, in degrees; positive if they fall to the right. Seen along lines of print, and along rules most of all,
 * their lower edges fall into few rows: so it is told of a small table, too.
 */
export function findLean({ data, width, height }: Grey, threshold: number): number {
  const [xs, ys]: [number[], number[]] = [[], []];
  for (let at = 0; at + width < data.length; at += 1) {
    if ((data[at] as number) >= threshold || (data[at + width] as number) < threshold) continue;
    xs.push(at % width);
    ys.push(Math.floor(at / width));
  }
  const sharpness = (degrees: number) => {
    const fall = Math.tan((degrees * Math.PI) / 180);
    const first = Math.ceil(width * Math.abs(fall));
    const rows = new Uint32Array(height + 2 * first + 1);
    for (let edge = 0; edge < xs.length; edge += 1) {
      const row = Math.round((ys[edge] as number) - (xs[edge] as number) * fall) + first;
      rows[row] = (rows[row] as number) + 1;
    }
    return rows.reduce((sum, count) => sum + count * count, 0);
  };
  let best = { degrees: 0, sharp: clearly * sharpness(0) };
  for (let degrees = -most; degrees <= most; degrees += step) {
    const sharp = sharpness(degrees);
    if (sharp > best.sharp) best = { degrees, sharp };
  }
  return best.degrees;
}
