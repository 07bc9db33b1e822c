import { turn } from './page-box.ts';
import type { Cell } from './page-line.ts';
import { type Matrix, objectTypes, type PageObject, withFloats } from './page-objects.ts';
import { ruledThresholds } from './pdf-thresholds.ts';
import type { Pdfium } from './pdfium.ts';

const { minLength, slack, maxSegments, maxLines } = ruledThresholds;
/** As PDFium counts the parts of a path: lines and places to which it moves. */
const segmentTypes = { line: 0, move: 2 };

type Point = [x: number, y: number];

/** A line that runs along a page or down it: where it stands, and from where to where it goes, in points. */
interface RuledLine {
  at: number;
  from: number;
  to: number;
}

/** A table whose cells have lines around them: where those between its columns stand, from the left, and those between its rows, from the top. */
interface Grid {
  columns: number[];
  rows: number[];
}

/** The lines that are drawn along a page and down it, also the sides of boxes. They separate the cells of a table. */
export class RuledLines {
  /** Those that run down, from the left. */
  readonly #down: RuledLine[];
  readonly #grids: Grid[];

  constructor({ down, along }: { down: RuledLine[]; along: RuledLine[] }) {
    this.#down = down.sort((one, other) => one.at - other.at);
    this.#grids = gridsOf(this.#down, along);
  }

  /** Whether a line runs down between two places of a line of text. Its baseline is only read if one may. */
  separates(from: number, to: number, readBaseline: () => number | undefined): boolean {
    let [low, high] = [0, this.#down.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#down[middle] as RuledLine).at < from - slack) low = middle + 1;
      else high = middle;
    }
    let y: number | undefined;
    for (let index = low; index < this.#down.length; index += 1) {
      const { at, from: bottom, to: top } = this.#down[index] as RuledLine;
      if (at > to + slack) return false;
      y ??= readBaseline();
      if (y === undefined) return false;
      if (bottom <= y + slack && top >= y) return true;
    }
    return false;
  }

  /** The cell in which a text stands, if its table has lines around the cells. */
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

/** The tables of a page: each is made of lines that cross each other. */
function gridsOf(down: RuledLine[], along: RuledLine[]): Grid[] {
  if (down.length + along.length > maxLines) return [];
  interface Group {
    down: RuledLine[];
    along: RuledLine[];
  }
  const groups = new Set<Group>();
  const groupOf = new Map<RuledLine, Group>();
  const crosses = (one: RuledLine, other: RuledLine) =>
    one.at >= other.from - slack && one.at <= other.to + slack && other.at >= one.from - slack && other.at <= one.to + slack;
  for (const line of down) {
    const crossed = along.filter((other) => crosses(line, other));
    const near = new Set(crossed.flatMap((other) => groupOf.get(other) ?? []));
    const fresh = crossed.filter((other) => !groupOf.has(other));
    const group: Group = { down: [line], along: fresh };
    for (const one of near) {
      groups.delete(one);
      group.down.push(...one.down);
      group.along.push(...one.along);
    }
    for (const other of group.along) groupOf.set(other, group);
    groups.add(group);
  }
  return [...groups].flatMap((group) => {
    const columns = placesOf(group.down);
    const rows = placesOf(group.along).reverse();
    return columns.length > 2 && rows.length > 2 ? [{ columns, rows }] : [];
  });
}

/** Where some lines stand, each place once. */
function placesOf(lines: RuledLine[]): number[] {
  const places: number[] = [];
  for (const { at } of lines.toSorted((one, other) => one.at - other.at))
    if (at - (places.at(-1) ?? -Infinity) > 2 * slack) places.push(at);
  return places;
}

/** Finds the lines among the objects of a page that is loaded and shown turned clockwise by so many quarters. */
export function findRuledLines(pdfium: Pdfium, objects: PageObject[], turns: number): RuledLines {
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
  withFloats(pdfium, 2, (place, floats) => {
    const pointOf = (segment: number, { a, b, c, d, e, f }: Matrix): Point => {
      pdfium.FPDFPathSegment_GetPoint(segment, place(0), place(1));
      const [x = 0, y = 0] = floats();
      return turn([a * x + c * y + e, b * x + d * y + f], turns);
    };
    for (const { object, type, matrix: matrixOf } of objects) {
      if (type !== objectTypes.path) continue;
      const matrix = matrixOf();
      const count = Math.min(left, pdfium.FPDFPath_CountSegments(object));
      left -= count;
      let [first, last, previous]: [Point | undefined, Point | undefined, number] = [undefined, undefined, 0];
      for (let index = 0; index < count; index += 1) {
        const segment = pdfium.FPDFPath_GetPathSegment(object, index);
        const kind = pdfium.FPDFPathSegment_GetType(segment);
        const point = pointOf(segment, matrix);
        if (kind === segmentTypes.move) {
          if (first && last && pdfium.FPDFPathSegment_GetClose(previous)) add(last, first);
          first = point;
        } else if (kind === segmentTypes.line && last) add(last, point);
        [last, previous] = [point, segment];
      }
      if (first && last && pdfium.FPDFPathSegment_GetClose(previous)) add(last, first);
    }
  });
  return new RuledLines({ down: [...down.values()], along: [...along.values()] });
}
