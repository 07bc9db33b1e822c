import type { Line, Part } from './page-line.ts';
import { lineThresholds, tableThresholds } from './pdf-thresholds.ts';

const { sameBaseline } = lineThresholds;
const { leastGap, mostLinesOfDrawnCell } = tableThresholds;
/** The leader from a title to its page number in a table of contents. */
const leaders = /(?:\.\s?){4}/;

/** The pieces at one height, from the left. */
export interface VisualLine {
  parts: Part[];
  y: number;
  size: number;
}

/** Lines that belong to one row if it is one of a table. There are several if cells of several lines are drawn one after the other. */
export interface PageRow {
  lines: [VisualLine, ...VisualLine[]];
  /** Which lines of the page it is made of: from the first to before the end. */
  first: number;
  end: number;
}

/** The lines of a page as rows. One that cannot be of a table, such as a line with leaders or one that leans, has no parts. */
export function toPageRows(lines: Line[]): PageRow[] {
  const rows: PageRow[] = [];
  for (const [index, line] of lines.entries()) {
    if (line.text === '') continue;
    const one = toVisualLine(line);
    const beside = findBeside(rows, one);
    if (!beside) {
      rows.push({ lines: [one], first: index, end: index + 1 });
      continue;
    }
    beside.line.parts.push(...one.parts);
    const [row, ...later] = rows.splice(beside.row) as [PageRow, ...PageRow[]];
    rows.push({ lines: [...row.lines, ...later.flatMap((other) => other.lines)] as PageRow['lines'], first: row.first, end: index + 1 });
  }
  return rows;
}

function toVisualLine({ text, parts, size = 0, y = 0 }: Line): VisualLine {
  const inOrder = parts.every(({ x, right }, at) => right >= x && x >= (parts[at - 1]?.right ?? Number.NEGATIVE_INFINITY));
  const isKnown = inOrder && size > 0 && !leaders.test(text);
  return { parts: isKnown ? [...parts] : [], y: parts[0]?.y ?? y, size };
}

/** Which of the last lines stands at the left of this one, at its height, with nothing but lower ones drawn since. */
function findBeside(rows: PageRow[], { parts: [part], y, size }: VisualLine): { row: number; line: VisualLine } | undefined {
  if (!part) return undefined;
  let left = mostLinesOfDrawnCell;
  for (let row = rows.length - 1; row >= 0; row -= 1) {
    for (const line of rows[row]?.lines.toReversed() ?? []) {
      const last = line.parts.at(-1);
      if (!last || left === 0) return undefined;
      if (Math.abs(line.y - y) <= sameBaseline * Math.min(size, line.size))
        return part.x >= last.right + leastGap * size ? { row, line } : undefined;
      if (line.y > y) return undefined;
      left -= 1;
    }
  }
  return undefined;
}
