import type { Line } from './page-line.ts';
import { lineThresholds, tableThresholds } from './pdf-thresholds.ts';

const { sameBaseline } = lineThresholds;
const { minGap, cellStep } = tableThresholds;

/**
 * The lines of a page with each number behind what stands at its left. Some programs draw a table column by column, or the last number of a
 * row behind the next row.
 */
export function moveNumbers(lines: Line[]): Line[] {
  const moved: Line[] = [];
  for (const line of lines) moved.splice(placeOf(line, moved), 0, line);
  return moved;
}

/** Behind which of the lines before a number stands: one at its height, or the lower one of two between which it is. */
function placeOf({ parts: [part, ...others], y = 0, size = 0, text }: Line, before: Line[]): number {
  if (!part || others.length > 0 || /\p{L}/u.test(text)) return before.length;
  for (let at = before.length - 1; at >= 0; at -= 1) {
    const { y: height = 0, parts } = before[at] as Line;
    const right = parts.at(-1)?.right ?? Number.POSITIVE_INFINITY;
    const lower = before[at + 1];
    if (height < y - sameBaseline * size) continue;
    if (height <= y + sameBaseline * size) return right + minGap * size <= part.x ? at + 1 : before.length;
    const isBetween = height - (lower?.y ?? 0) <= cellStep * size && (lower?.parts.at(-1)?.right ?? 0) + minGap * size <= part.x;
    return isBetween ? at + 2 : before.length;
  }
  return before.length;
}
