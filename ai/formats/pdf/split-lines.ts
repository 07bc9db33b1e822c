import type { PageCharacters } from './page-characters.ts';
import { type RawLine, sliceLine } from './page-text.ts';
import { lineThresholds } from './pdf-thresholds.ts';

const { sameBaseline, stepBack, otherLine } = lineThresholds;

/**
 * Parts lines that PDFium has joined: on a page on which next to no line is filled, it takes a sign that is drawn by itself, such as the number
 * of a row, for a part of the line before; and all that stands on its side for one line.
 */
export function partLines(lines: RawLine[], characters: PageCharacters): RawLine[] {
  return lines.flatMap((line) => {
    const parts: RawLine[] = [];
    let start = 0;
    for (const { index } of line.raw.matchAll(/(?<=\S)\s(?=\S)/g)) {
      const [before, , next] = line.at.slice(index - 1, index + 2) as [number, number, number];
      if (!isOfOtherLine(before, next, characters)) continue;
      parts.push(sliceLine(line, start, index));
      start = index + 1;
    }
    return [...parts, start === 0 ? line : sliceLine(line, start, line.raw.length)];
  });
}

function isOfOtherLine(before: number, next: number, characters: PageCharacters): boolean {
  const [x, y] = characters.originOf(before);
  const [nextX, nextY] = characters.originOf(next);
  // Most blanks stand within a line.
  if (x === undefined || y === undefined || nextX === undefined || nextY === undefined || y === nextY) return false;
  const { scale, upright } = characters.formOf(next);
  if (!upright) return false;
  const size = characters.fontSizeOf(next) * scale;
  return Math.abs(y - nextY) > otherLine * size || (y - nextY > sameBaseline * size && x - nextX > stepBack * size);
}
