import type { Blank, Part } from './page-line.ts';
import type { VisualLine } from './page-rows.ts';
import { columnThresholds, tableThresholds } from './pdf-thresholds.ts';

const { filled, minWords } = columnThresholds;
const { maxColumns, minGap, minRows, tolerance, minAligned } = tableThresholds;
/** Where a column stands, from the left edge of the page, in points. */
export interface Column {
  x: number;
  right: number;
}

/** The marks before list items. */
const marker = /^(?:[•◦▪‣●○–—*·+>-]|[([]?(?:\p{N}{1,3}(?:\.\p{N}+)*|\p{L})[.)\]]?)$/u;

/**
 * Widens columns so that the parts of a line fit into them. A part that reaches into the next column is divided before it, if the line has
 * a wide enough blank there. Undefined if a part still lies in two columns, or two parts lie in one.
 */
export function spreadColumns(columns: Column[], line: VisualLine): Column[] | undefined {
  return spread(columns, line, {
    gap: minGap * line.size,
    blanksOf: (part, all) => (/\p{L}/u.test(part.text) ? blanksBefore : blanksBetween)(part, all),
  });
}

/**
 * The columns, widened so that the head of the table fits into them. The head may be parted at any blank between two columns, and its
 * cells may stand closer to each other than those of the rows.
 */
export function spreadOverHead(columns: Column[], head: VisualLine): Column[] | undefined {
  return spreadInOrder(columns, head) ?? spread(columns, head, { gap: 0, blanksOf: blanksBetween });
}

/** The columns, from the left, with a cell of the head for each, wherever it stands between the columns beside it. */
function spreadInOrder(columns: Column[], { parts }: VisualLine): Column[] | undefined {
  const fits = ({ x, right }: Part, at: number) =>
    x > (columns[at - 1]?.right ?? 0) && right < (columns[at + 1]?.x ?? Number.POSITIVE_INFINITY);
  if (parts.length !== columns.length || !parts.every(fits)) return undefined;
  return columns.map((column, at) => {
    const { x, right } = parts[at] as Part;
    return { x: Math.min(column.x, x), right: Math.max(column.right, right) };
  });
}

interface Closeness {
  /** How far apart two columns are at least, in points, unless a line is drawn between them. */
  gap: number;
  /** Where a part may be parted that reaches into several columns. */
  blanksOf: (part: Part, columns: Column[]) => Blank[];
}

function spread(columns: Column[], line: VisualLine, { gap, blanksOf }: Closeness): Column[] | undefined {
  if (line.parts.length > maxColumns) return undefined;
  const near = ({ x, right, cell }: Part) => {
    const apart = cell ? 0 : gap;
    return columns.flatMap((one, index) => (x < one.right + apart && right > one.x - apart ? [index] : []));
  };
  const parts = line.parts.flatMap((part) => (near(part).length > 1 ? splitPart(part, blanksOf(part, columns)) : [part]));
  // Only words from left to right can be parted at blanks.
  if (parts.some(({ x, right }) => right < x)) return undefined;
  const wider = [...columns];
  const taken = new Set<number>();
  for (const part of parts) {
    const [index = -1, ...others] = near(part);
    if (others.length > 0 || taken.has(index)) return undefined;
    const column = wider[index];
    if (!column) wider.push({ x: part.x, right: part.right });
    else {
      taken.add(index);
      wider[index] = { x: Math.min(column.x, part.x), right: Math.max(column.right, part.right) };
    }
  }
  if (wider.length > maxColumns) return undefined;
  line.parts = parts;
  return wider;
}

/** The blanks of a part after which a column begins. */
function blanksBefore(part: Part, columns: Column[]): Blank[] {
  return part.blanks.filter(({ right, x }) => columns.some((one) => right <= one.x && Math.abs(x - one.x) <= tolerance));
}

/** The widest blank between each two columns that follow each other. */
function blanksBetween(part: Part, columns: Column[]): Blank[] {
  const sorted = columns.toSorted((one, other) => one.x - other.x);
  const widest = sorted.slice(1).flatMap((column, index) => {
    const between = part.blanks.filter(({ right, x }) => right <= column.x && x >= (sorted[index]?.right ?? 0));
    return between.sort((one, other) => other.x - other.right - (one.x - one.right)).slice(0, 1);
  });
  return widest.sort((one, other) => one.at - other.at);
}

/** The pieces between the blanks of a part. */
function splitPart(part: Part, blanks: Blank[]): Part[] {
  return [undefined, ...blanks].map((blank, index) => {
    const next = blanks[index];
    const text = part.text.slice(blank?.at ?? 0, next?.at).trim();
    return { text, x: blank?.x ?? part.x, right: next?.right ?? part.right, y: part.y, blanks: [] };
  });
}

/** In which of the columns, from the left, a part stands. */
export function columnOf(columns: Column[], { x, right }: Part): number {
  return columns.findIndex((column) => column.x <= right && column.right >= x);
}

/** Whether lines are rows by what stands in their columns, which are from the left: neither text in columns nor points of a list. */
export function areTable(columns: Column[], rows: VisualLine[]): boolean {
  const all = columns.map(() => [] as Part[]);
  for (const part of rows.flatMap(({ parts }) => parts)) all[columnOf(columns, part)]?.push(part);
  const aligned = all.map((cells) => Math.max(shareAligned(cells), shareNumeric(cells)));
  const count = all.reduce((sum, cells) => sum + cells.length, 0);
  const inAll = all.reduce((sum, cells, index) => sum + cells.length * (aligned[index] ?? 0), 0) / count;
  // Two cells tell nothing of a column: its head, and the one row that needs it.
  const isAstray = (share: number, at: number) => share < minAligned.column && (all[at]?.length ?? 0) >= minRows;
  if (inAll < minAligned.table || aligned.some((share, at) => isAstray(share, at) && !(at === 0 && columns.length > 2))) return false;
  const texts = all.filter((cells, index) => isText(cells, columns[index] as Column)).length;
  const [first = [], second = []] = all;
  if (columns.length > 2) return texts < 2;
  if (shareNumeric(second) >= minAligned.column) return texts === 0;
  return texts === 0 && !first.every(({ text }) => marker.test(text)) && shareTogether(second.map(({ x }) => x)) >= minAligned.table;
}

/** How many of the cells begin, end, or have their middle, at a common place. */
function shareAligned(cells: Part[]): number {
  const places = [({ x }: Part) => x, ({ right }: Part) => right, ({ x, right }: Part) => (x + right) / 2];
  return Math.max(...places.map((placeOf) => shareTogether(cells.map(placeOf))));
}

function shareTogether(places: number[]): number {
  const sorted = places.toSorted((one, other) => one - other);
  let [most, first] = [0, 0];
  for (const [index, place] of sorted.entries()) {
    while (place - (sorted[first] ?? place) > tolerance) first += 1;
    most = Math.max(most, index - first + 1);
  }
  return most / places.length;
}

/** Numbers may stand below each other by their points, which are not known. */
function shareNumeric(cells: Part[]): number {
  return cells.filter(({ text }) => /^[^\p{L}]*\p{N}/u.test(text)).length / cells.length;
}

/** Whether most cells of a column are about as long as it is wide, and have several words. */
function isText(cells: Part[], { x, right }: Column): boolean {
  const full = cells.filter((cell) => cell.right - cell.x >= (right - x) * filled && cell.text.split(/\s+/).length >= minWords);
  return full.length * 2 > cells.length;
}
