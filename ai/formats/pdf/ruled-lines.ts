import { turn } from './page-box.ts';
import type { Cell } from './page-line.ts';
import { type Matrix, objectsOf, objectTypes, withFloats } from './page-objects.ts';
import { ruledThresholds } from './pdf-thresholds.ts';
import type { Pdfium } from './pdfium.ts';

const { minLength, slack, above, maxSegments, maxLines, minShare } = ruledThresholds;
/** As PDFium counts the parts of a path: lines and places to which it moves. */
const segmentTypes = { line: 0, move: 2 };

type Point = [x: number, y: number];

/** A line that runs along a page or down it: where it stands, and from where to where it goes, in points. */
interface RuledLine {
  at: number;
  from: number;
  to: number;
}

/** A table whose cells are drawn: what parts its columns, from the left, and its rows, from the top. */
interface Grid {
  columns: number[];
  rows: number[];
}

/** The lines that are drawn on a page, also the sides of boxes, where it lies turned by so many quarters. They part the cells of a table. */
export class RuledLines {
  /** Those that run down, from the left. */
  readonly #down: RuledLine[];
  readonly #grids: Grid[];

  constructor({ down, along }: { down: RuledLine[]; along: RuledLine[] }) {
    this.#down = down.sort((one, other) => one.at - other.at);
    this.#grids = gridsOf(this.#down, along);
  }

  /** Whether a line runs down between two places of a line of text, whose type has this size. */
  parts(from: number, to: number, { y, size }: { y: number; size: number }): boolean {
    let [low, high] = [0, this.#down.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#down[middle] as RuledLine).at < from - slack) low = middle + 1;
      else high = middle;
    }
    for (let index = low; index < this.#down.length; index += 1) {
      const { at, from: bottom, to: top } = this.#down[index] as RuledLine;
      if (at > to + slack) return false;
      if (bottom <= y + slack && top >= y + above * size) return true;
    }
    return false;
  }

  /** The cell in which a text stands, if it is in a table whose cells are drawn. */
  cellOf(x: number, right: number, y: number): Cell | undefined {
    const middle = (x + right) / 2;
    for (const grid of this.#grids) {
      const column = grid.columns.findLastIndex((at) => at <= middle);
      const row = grid.rows.findLastIndex((at) => at >= y);
      if (column >= 0 && row >= 0 && column < grid.columns.length - 1 && row < grid.rows.length - 1) return { grid, row, column };
    }
    return undefined;
  }
}

/** The tables that lines draw which cross each other. */
function gridsOf(down: RuledLine[], along: RuledLine[]): Grid[] {
  if (down.length + along.length > maxLines) return [];
  const groups: { down: RuledLine[]; along: RuledLine[] }[] = [];
  const crosses = (one: RuledLine, other: RuledLine) =>
    one.at >= other.from - slack && one.at <= other.to + slack && other.at >= one.from - slack && other.at <= one.to + slack;
  for (const line of down) {
    const near = groups.filter((group) => group.along.some((other) => crosses(line, other)));
    const crossed = along.filter((other) => crosses(line, other));
    const joined = {
      down: [line, ...near.flatMap((group) => group.down)],
      along: [...new Set([...crossed, ...near.flatMap((group) => group.along)])],
    };
    for (const group of near) groups.splice(groups.indexOf(group), 1);
    groups.push(joined);
  }
  return groups.flatMap((group) => {
    const columns = placesOf(group.down);
    const rows = placesOf(group.along).reverse();
    return columns.length > 2 && rows.length > 2 ? [{ columns, rows }] : [];
  });
}

/** Where lines stand that go through a share of the table, all at one place together. */
function placesOf(lines: RuledLine[]): number[] {
  const extent = Math.max(...lines.map(({ to }) => to)) - Math.min(...lines.map(({ from }) => from));
  const places: { at: number; length: number }[] = [];
  for (const { at, from, to } of lines.toSorted((one, other) => one.at - other.at)) {
    const last = places.at(-1);
    if (last && at - last.at <= 2 * slack) last.length += to - from;
    else places.push({ at, length: to - from });
  }
  return places.filter(({ length }) => length >= minShare * extent).map(({ at }) => at);
}

/** Finds them on a page that is loaded. */
export function findRuledLines(pdfium: Pdfium, page: number, turns: number): RuledLines {
  const [down, along] = [new Map<string, RuledLine>(), new Map<string, RuledLine>()];
  const add = (one: Point, other: Point) => {
    for (const [side, lines] of [down, along].entries()) {
      const [at, otherAt, from, to] = [one[side], other[side], one[1 - side], other[1 - side]] as [number, number, number, number];
      if (Math.abs(at - otherAt) > slack || Math.abs(to - from) < minLength) continue;
      const line = { at, from: Math.min(from, to), to: Math.max(from, to) };
      lines.set(Object.values(line).map(Math.round).join(), line);
    }
  };
  let left = maxSegments;
  for (const { object, type, matrix: matrixOf } of objectsOf(pdfium, page)) {
    if (type !== objectTypes.path) continue;
    const matrix = matrixOf();
    const count = Math.min(left, pdfium.FPDFPath_CountSegments(object));
    left -= count;
    let [first, last]: [Point | undefined, Point | undefined] = [undefined, undefined];
    for (let index = 0; index < count; index += 1) {
      const segment = pdfium.FPDFPath_GetPathSegment(object, index);
      const kind = pdfium.FPDFPathSegment_GetType(segment);
      const point = turn(placeOf(pdfium, segment, matrix), turns);
      if (kind === segmentTypes.move) first = point;
      else if (kind === segmentTypes.line && last) add(last, point);
      if (first && pdfium.FPDFPathSegment_GetClose(segment)) add(point, first);
      last = point;
    }
  }
  return new RuledLines({ down: [...down.values()], along: [...along.values()] });
}

function placeOf(pdfium: Pdfium, segment: number, { a, b, c, d, e, f }: Matrix): Point {
  return withFloats(pdfium, 2, (at, floats) => {
    pdfium.FPDFPathSegment_GetPoint(segment, at(0), at(1));
    const [x = 0, y = 0] = floats();
    return [a * x + c * y + e, b * x + d * y + f];
  });
}
