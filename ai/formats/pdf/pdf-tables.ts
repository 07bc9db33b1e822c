import { toRow } from '../table-row.ts';
import { moveNumbers } from './move-numbers.ts';
import type { Cell, Line, Part } from './page-line.ts';
import { isNumber, type PageRow, toPageRows, type VisualLine } from './page-rows.ts';
import { tableThresholds } from './pdf-thresholds.ts';
import { areTable, type Column, columnOf, spreadColumns, spreadOverHead } from './table-columns.ts';

const { minRows, maxLines, maxLinesOfLabel, tolerance, maxStep, cellStep, clearlyFurther, minFilled } = tableThresholds;
/** Rows that follow each other, and the columns into which they fit, from the left. */
interface Run {
  run: PageRow[];
  columns: Column[];
}

/**
 * Joins the lines of each table of a page into rows of Markdown. A table has at least three consecutive rows whose cells begin or end at
 * common places, with wide gaps between them. Columns of text, lists, and tables of contents with dot leaders are not tables. All other
 * lines stay as they are.
 */
export function joinTables(drawn: Line[]): Line[] {
  if (drawn.length > maxLines) return drawn;
  const lines = moveNumbers(drawn);
  const rows = toPageRows(lines);
  const joined: Line[] = [];
  let next = 0;
  for (let at = 0; at < rows.length; ) {
    const above = rows[at - 1];
    const found = withHead(runFrom(rows, at), above && above.first >= next ? above : undefined);
    const { run, columns } = simpler(found, withHead(runFrom(rows, at + 1), rows[at]));
    const records = toRecords(run, columns);
    const last = records.at(-1)?.at(-1);
    if (last && isTable(records, columns)) {
      joined.push(...lines.slice(next, run[0]?.first), ...toLines(records, columns));
      next = last.end;
    }
    const consumed = records.flat().length - (run[0] === above ? 1 : 0);
    at += Math.max(1, consumed);
  }
  return joinRuled([...joined, ...lines.slice(next)]);
}

/**
 * Joins the lines of tables that have lines around their cells, among those that are not rows yet: the texts of their cells have several lines,
 * and not equally many. Boxes of a diagram are no table: one of their columns is mostly empty.
 */
function joinRuled(lines: Line[]): Line[] {
  const joined: Line[] = [];
  for (let at = 0, end = 1; at < lines.length; at = end, end += 1) {
    const grid = gridOf(lines[at] as Line);
    while (grid && end < lines.length && gridOf(lines[end] as Line) === grid) end += 1;
    const some = lines.slice(at, end);
    const cells = some.flatMap(({ parts }) => parts.flatMap((part) => (part.cell ? [{ ...part, ...part.cell }] : [])));
    const rows = Map.groupBy(cells, ({ row }) => row);
    const columns = Map.groupBy(cells, ({ column }) => column);
    const isFilled = (column: typeof cells) => new Set(column.map(({ row }) => row)).size >= rows.size * minFilled;
    if (rows.size < minRows || columns.size < 2 || ![...columns.values()].every(isFilled)) joined.push(...some);
    else joined.push(...ruledRows(some, [...rows].sort(byPlace), [...columns].sort(byPlace)));
  }
  return joined;
}

/** The table with lines around its cells in which all parts of a line stand. */
function gridOf({ parts: [first, ...others], table }: Line): object | undefined {
  const grid = table ? undefined : first?.cell?.grid;
  return others.every(({ cell }) => cell?.grid === grid) ? grid : undefined;
}

type CellPart = Part & Cell;

const byPlace = ([one]: [number, unknown], [other]: [number, unknown]) => one - other;

function ruledRows([first]: Line[], rows: [number, CellPart[]][], columns: [number, unknown][]): Line[] {
  return rows.flatMap(([, cells]) => {
    const ordered = cells.sort((one, other) => other.y - one.y || one.x - other.x);
    const text = toRow(columns.map(([at]) => ordered.flatMap(({ column, text: line }) => (column === at ? [line] : [])).join(' ')));
    const [{ y, grid: table }] = ordered as [CellPart];
    return text === undefined || !first ? [] : [{ ...first, text, y, bold: false, gapped: true, parts: [], table }];
  });
}

/** The rows from here that follow each other and fit into common columns, which are from the left. */
function runFrom(rows: PageRow[], start: number): Run {
  let columns: Column[] = [];
  let end = start;
  for (; end < rows.length; end += 1) {
    const row = rows[end] as PageRow;
    if (end === start ? !hasCells(row) : !follows(rows[end - 1] as PageRow, row)) break;
    const spread = spreadOver(columns, row) ?? (isLabel(row, columns) ? columns : undefined);
    if (!spread) break;
    columns = spread;
  }
  return { run: rows.slice(start, end), columns: columns.sort((one, other) => one.x - other.x) };
}

/** The reading in which the first row is a head, if it explains as many rows by fewer columns: heads stand over the middle of wide columns. */
function simpler(found: Run, headed: Run): Run {
  return headed.run.length >= found.run.length && headed.columns.length < found.columns.length ? headed : found;
}

/** Adds the row above if it names the columns: its cells stand so close that they can be parted only once the columns are known. */
function withHead(found: Run, above: PageRow | undefined): Run {
  const [first] = found.run;
  const isNear = above && first && found.run.length >= minRows && above.lines.length === 1 && follows(above, first);
  if (!isNear) return found;
  const columns = spreadOverHead(found.columns, above.lines[0]);
  if (columns?.length !== found.columns.length || above.lines[0].parts.length * 2 <= columns.length) return found;
  return { run: [above, ...found.run], columns };
}

/** Whether a row is one text from the left edge of the columns on, such as the title of the rows below it. */
function isLabel({ lines: [line, ...others] }: PageRow, columns: Column[]): boolean {
  const [part, second] = line.parts;
  if (others.length > 0 || !part || second) return false;
  const sorted = columns.toSorted((one, other) => one.x - other.x);
  return columnOf(sorted, part) === 0 && part.x >= (sorted[0]?.x ?? 0) - tolerance && part.right <= (sorted.at(-1)?.right ?? 0);
}

/** Whether something stands beside something else in a row. */
function hasCells({ lines: [line, ...others] }: PageRow): boolean {
  return others.length > 0 || line.parts.length > 1;
}

function spreadOver(columns: Column[], { lines }: PageRow): Column[] | undefined {
  let spread: Column[] | undefined = columns;
  for (const line of lines) {
    if (line.parts.length === 0) return undefined;
    spread = spread && spreadColumns(spread, line);
  }
  return spread;
}

function follows(above: PageRow, row: PageRow): boolean {
  const [line] = row.lines;
  const step = stepTo(above, line);
  return step > 0 && step <= maxStep * line.size;
}

function stepTo({ lines }: PageRow, { y }: VisualLine): number {
  return Math.min(...lines.map((line) => line.y)) - y;
}

/** Rows, with the lines that continue their cells. Ends before a line that may or may not be a row. */
function toRecords(run: PageRow[], columns: Column[]): PageRow[][] {
  const sure = run.map((row) => isSure(row, columns));
  const lastSure = sure.lastIndexOf(true);
  const steps = run.flatMap((row, index) => (index > 0 && sure[index] ? [stepTo(run[index - 1] as PageRow, row.lines[0])] : []));
  const usualStep = steps.sort((one, other) => one - other)[Math.floor(steps.length / 2)];
  const records: PageRow[][] = [];
  for (const [index, row] of run.entries()) {
    const record = records.at(-1);
    const isTitle = isLabel(row, columns) && sure.slice(index + 1, index + 1 + maxLinesOfLabel).includes(true);
    if (record && !sure[index] && goesOn(record, row, { columns, usualStep, isLast: index > lastSure })) record.push(row);
    else if (hasCells(row) || isTitle) records.push([row]);
    else break;
  }
  return records;
}

/** Whether a row has several cells, of which one is in the first column. */
function isSure({ lines: [line, ...others] }: PageRow, columns: Column[]): boolean {
  const [first] = line.parts;
  return others.length > 0 || (line.parts.length > 1 && first !== undefined && columnOf(columns, first) === 0);
}

interface Surroundings {
  columns: Column[];
  usualStep: number | undefined;
  /** No row follows. */
  isLast: boolean;
}

/** Whether a text may stand below another one in its cell: two numbers are two cells, and what begins further left is a title. */
function mayGoOn(above: Part, below: Part): boolean {
  return below.x >= above.x - tolerance && !(isNumber(above) && isNumber(below));
}

/** Whether the line below a row continues its cells. */
function goesOn(record: PageRow[], { lines: [line] }: PageRow, { columns, usualStep, isLast }: Surroundings): boolean {
  const step = stepTo(record.at(-1) as PageRow, line);
  const places = line.parts.map((part) => columnOf(columns, part));
  const above = record.flatMap(({ lines }) => lines.flatMap(({ parts }) => parts));
  const isOf = (part: Part) => above.some((one) => columnOf(columns, one) === columnOf(columns, part) && mayGoOn(one, part));
  if (step > cellStep * line.size || !line.parts.every(isOf)) return false;
  if (usualStep !== undefined && usualStep >= step * clearlyFurther) return true;
  return !isLast && line.parts.length === 1 && places[0] !== 0 && /\p{L}/u.test(line.parts[0]?.text ?? '');
}

function isTable(all: PageRow[][], columns: Column[]): boolean {
  const records = all.filter(([row]) => row && hasCells(row));
  if (records.length < minRows || columns.length < 2) return false;
  const heads = records.flatMap(([row]) => (row ? firstLineOf(row, columns) : []));
  const count = heads.reduce((sum, { parts }) => sum + parts.length, 0);
  const used = new Set(heads.flatMap(({ parts }) => parts.map((part) => columnOf(columns, part))));
  return used.size === columns.length && count >= records.length * columns.length * minFilled && areTable(columns, heads);
}

/** The first line of each cell of a row, as one line. */
function firstLineOf({ lines }: PageRow, columns: Column[]): VisualLine {
  const parts = lines.flatMap((line) => line.parts);
  return { ...lines[0], parts: columns.flatMap((_, at) => parts.find((part) => columnOf(columns, part) === at) ?? []) };
}

function toLines(records: PageRow[][], columns: Column[]): Line[] {
  const table = {};
  return records.flatMap((record) => {
    const cells = columns.map(() => [] as string[]);
    const lines = record.flatMap((row) => row.lines);
    for (const part of lines.flatMap(({ parts }): Part[] => parts)) cells[columnOf(columns, part)]?.push(part.text);
    const text = toRow(cells.map((texts) => texts.join(' ')));
    const [{ parts, y, size }] = lines as [VisualLine];
    return text === undefined ? [] : [{ text, x: parts[0]?.x, y, size, bold: false, upright: true, gapped: true, parts: [], table }];
  });
}
