import type { Line, Part } from './page-line.ts';
import { lineThresholds, tableThresholds } from './pdf-thresholds.ts';

const { sameBaseline } = lineThresholds;
const { minGap, maxLinesOfDrawnCell, cellStep, tolerance } = tableThresholds;
/** The leader from a title to its page number in a table of contents, or from the title of a row to its numbers. */
const leader = /(?:\.\s?){4,}/g;

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
  let drawn: VisualLine | undefined;
  for (const [index, line] of lines.entries()) {
    if (line.text === '') continue;
    for (const [piece, one] of toVisualLines(line).entries()) {
      const beside = findBeside(rows, one);
      const from = beside?.row ?? findRowOfCell(rows, one, drawn) ?? (piece > 0 ? rows.length - 1 : rows.length);
      if (beside) beside.line.parts.push(...one.parts);
      const joined = rows.splice(from);
      const lines = [...joined.flatMap((row) => row.lines), ...(beside ? [] : [one])] as PageRow['lines'];
      rows.push({ lines, first: joined[0]?.first ?? index, end: index + 1 });
      drawn = one;
    }
  }
  return rows;
}

/** The pieces of a line. PDFium takes cells for one line that are set in the middle of their row, a little higher or lower. */
function toVisualLines({ text, parts: all, size = 0, y = 0 }: Line): VisualLine[] {
  const [, ...led] = text.split(leader);
  const isOfContents = led.length > 0 && (led.at(-1)?.match(/\p{N}\S*/gu)?.length ?? 0) < 2;
  const parts = all.flatMap((part) => ({ ...part, text: part.text.replace(leader, '') })).filter((part) => part.text !== '');
  const inOrder = parts.every(({ x, right }, at) => right >= x && x >= (parts[at - 1]?.right ?? Number.NEGATIVE_INFINITY));
  const isKnown = inOrder && size > 0 && !isOfContents;
  if (!isKnown || parts.length === 0) return [{ parts: [], y: parts[0]?.y ?? y, size }];
  const lines: VisualLine[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    if (last && Math.abs(last.y - part.y) <= sameBaseline * size) last.parts.push(part);
    else lines.push({ parts: [part], y: part.y, size });
  }
  return lines;
}

/** Which of the last lines stands at the left of this one, at its height, with nothing but lower ones drawn since. */
function findBeside(rows: PageRow[], { parts: [part], y, size }: VisualLine): { row: number; line: VisualLine } | undefined {
  if (!part) return undefined;
  let left = maxLinesOfDrawnCell;
  for (let row = rows.length - 1; row >= 0; row -= 1) {
    for (const line of rows[row]?.lines.toReversed() ?? []) {
      const last = line.parts.at(-1);
      if (!last || left === 0) return undefined;
      if (Math.abs(line.y - y) <= sameBaseline * Math.min(size, line.size))
        return part.x >= last.right + minGap * size ? { row: firstRowOfCell(rows, row), line } : undefined;
      if (line.y > y) return undefined;
      left -= 1;
    }
  }
  return undefined;
}

/**
 * From which row on the last ones are a row with this line: it begins a cell at the right of them, which is set in the middle of its row, or
 * goes on with such a cell, of which `drawn` is the line before. Undefined if it is neither.
 */
function findRowOfCell(rows: PageRow[], { parts: [part], y, size }: VisualLine, drawn: VisualLine | undefined): number | undefined {
  const last = rows.at(-1);
  const before = drawn?.parts.at(-1);
  if (!part || !last || !drawn || !before) return undefined;
  if (last.lines.length > 1 && isBelow(before, drawn.y, part, y, size)) return rows.length - 1;
  const from = firstRowOfCell(rows, rows.length - 1);
  const right = Math.max(...rows.slice(from).flatMap((row) => row.lines.flatMap(({ parts }) => parts.map((one) => one.right))));
  const above = Math.min(...(rows[from - 1]?.lines.map((one) => one.y) ?? [Number.POSITIVE_INFINITY]));
  return y > drawn.y && y < above - size && part.x >= right + minGap * size ? from : undefined;
}

/** The row from which on the lines above one, and it, are a cell that is drawn whole. */
function firstRowOfCell(rows: PageRow[], row: number): number {
  let from = row;
  for (; from > 0 && row - from < maxLinesOfDrawnCell; from -= 1) {
    const [above, below] = [rows[from - 1], rows[from]] as [PageRow, PageRow];
    const [upper, lower] = [above.lines[0], below.lines[0]];
    const [one, other] = [upper.parts[0], lower.parts[0]];
    const isSingle = [above.lines, below.lines, upper.parts, lower.parts].every(({ length }) => length === 1);
    if (!isSingle || !one || !other || !isBelow(one, upper.y, other, lower.y, lower.size)) break;
  }
  return from;
}

/** Whether a part stands below another one as the next line of a cell does; two numbers are two cells. */
function isBelow(upper: Part, upperY: number, lower: Part, lowerY: number, size: number): boolean {
  const step = upperY - lowerY;
  const apart = [upper.x - lower.x, upper.right - lower.right, (upper.x + upper.right - lower.x - lower.right) / 2];
  return (
    step > 0 &&
    step <= cellStep * size &&
    !(isNumber(upper) && isNumber(lower)) &&
    apart.some((distance) => Math.abs(distance) <= tolerance)
  );
}

/** Whether a text is a number: with digits and without letters. */
export function isNumber({ text }: Part): boolean {
  return /^(?!.*\p{L}).*\p{N}/su.test(text);
}
