import { signOfRaised } from '../raised.ts';
import type { PageCharacters } from './page-characters.ts';
import type { RawLine } from './page-text.ts';
import { lineThresholds } from './pdf-thresholds.ts';

const { smallerRaised, raisedBy } = lineThresholds;
const number = /\d+[-\u2212\u2013]?\d+/g;

/** Puts a sign before digits that are raised behind a number: powers, and marks of notes. */
export function markRaised(line: RawLine, characters: PageCharacters): RawLine {
  const at: number[][] = [];
  let [raw, next] = ['', 0];
  for (const { 0: digits, index: start } of line.raw.matchAll(number)) {
    const place = placeOfRaised(line.at.slice(start, start + digits.length), characters);
    const sign = place && signOfRaised(digits.slice(0, place), digits.slice(place));
    if (!sign) continue;
    const end = start + place;
    raw += line.raw.slice(next, end) + sign;
    // It stands where the digits do.
    at.push(line.at.slice(next, end), line.at.slice(end, end + 1));
    next = end;
  }
  return next === 0 ? line : { raw: raw + line.raw.slice(next), at: [...at, line.at.slice(next)].flat() };
}

/** From which digit on a number is smaller and higher than before; undefined if its last one is not. */
function placeOfRaised(at: number[], characters: PageCharacters): number | undefined {
  const sizeOf = (index: number) => characters.fontSizeOf(index) * characters.formOf(index).scale;
  const [first, last] = [at[0] as number, at.at(-1) as number];
  const size = sizeOf(first);
  if (sizeOf(last) > size * smallerRaised) return undefined;
  const [, y] = characters.originOf(first);
  const [, raisedY] = characters.originOf(last);
  if (y === undefined || raisedY === undefined || raisedY - y < raisedBy * size) return undefined;
  return at.findIndex((index) => sizeOf(index) <= size * smallerRaised);
}
