/** One difference between two texts: a letter is missing (`ours` only), is added (`theirs` only), or is another one (both). */
export interface Edit {
  /** Its position in the alignment, counted from the end. */
  at: number;
  ours?: number;
  theirs?: number;
}

interface Alignment {
  start: number;
  end: number;
  /** From the last to the first. */
  edits: Edit[];
}

const impossible = 1_000;
/** Characters that must not differ: digits, the characters between digits, and those that are words by themselves. */
const fixed = /[\d.,:;/' \n-]|\p{Script=Han}/u;

/**
 * Aligns a text with the most similar part of another text around an offset. The part begins and ends at borders. Undefined if the two differ
 * by more than `maxEdits`, or within a number.
 */
export function alignLetters(
  wanted: string,
  text: string,
  { offset, maxEdits, isBorder }: { offset: number; maxEdits: number; isBorder: (index: number) => boolean },
): Alignment | undefined {
  const from = Math.max(0, offset - maxEdits);
  const region = text.slice(from, Math.max(from, offset + wanted.length + maxEdits));
  const costs = new Costs(wanted, region, { offset: offset - from, breadth: 2 * maxEdits, isBorder: (column) => isBorder(from + column) });
  const end = costs.bestEnd();
  if (end === undefined || costs.at(wanted.length, end) > maxEdits) return undefined;
  const { start, edits } = costs.walkBack(end);
  return {
    start: from + start,
    end: from + end,
    edits: edits.map((edit) => (edit.theirs === undefined ? edit : { ...edit, theirs: from + edit.theirs })),
  };
}

interface Band {
  offset: number;
  breadth: number;
  isBorder: (column: number) => boolean;
}

/**
 * A table of edit distances: a row for each prefix of the wanted text, a column for each end of a part of the other text that begins at a
 * border. It holds only a band of columns around the diagonal from `offset`.
 */
class Costs {
  readonly #wanted: string;
  readonly #region: string;
  readonly #band: Band;
  readonly #width: number;
  readonly #costs: Uint16Array;
  readonly #ours: Uint16Array;
  readonly #theirs: Uint16Array;

  constructor(wanted: string, region: string, band: Band) {
    this.#wanted = wanted;
    this.#region = region;
    this.#band = band;
    this.#width = 2 * band.breadth + 1;
    this.#costs = new Uint16Array((wanted.length + 1) * this.#width).fill(impossible);
    this.#ours = pricesOf(wanted);
    this.#theirs = pricesOf(region);
    for (let row = 0; row <= wanted.length; row += 1) this.#fillRow(row);
  }

  at(row: number, column: number): number {
    const index = column - this.#firstOf(row);
    return index < 0 || index >= this.#width ? impossible : (this.#costs[row * this.#width + index] ?? impossible);
  }

  bestEnd(): number | undefined {
    const row = this.#wanted.length;
    let best: number | undefined;
    for (const column of this.#columnsOf(row)) {
      if (this.#band.isBorder(column) && (best === undefined || this.at(row, column) < this.at(row, best))) best = column;
    }
    return best;
  }

  walkBack(end: number): { start: number; edits: Edit[] } {
    const edits: Edit[] = [];
    let [row, column] = [this.#wanted.length, end];
    for (let at = 0; row > 0; at += 1) {
      const here = this.at(row, column);
      const step =
        this.#byOther(row, column) === here
          ? { ours: row - 1, theirs: column - 1 }
          : this.#byOneLess(row, column) === here
            ? { ours: row - 1 }
            : { theirs: column - 1 };
      if ('ours' in step) row -= 1;
      if ('theirs' in step) column -= 1;
      if (this.at(row, column) !== here) edits.push({ at, ...step });
    }
    return { start: column, edits };
  }

  #fillRow(row: number): void {
    for (const column of this.#columnsOf(row)) {
      const index = row * this.#width + column - this.#firstOf(row);
      if (row === 0) this.#costs[index] = this.#band.isBorder(column) ? 0 : impossible;
      else
        this.#costs[index] = Math.min(impossible, this.#byOther(row, column), this.#byOneLess(row, column), this.#byOneMore(row, column));
    }
  }

  #firstOf(row: number): number {
    return row + this.#band.offset - this.#band.breadth;
  }

  #columnsOf(row: number): number[] {
    const first = Math.max(0, this.#firstOf(row));
    const last = Math.min(this.#region.length, this.#firstOf(row) + this.#width - 1);
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
  }

  /** The cost if the last letters are matched with each other, equal or not. */
  #byOther(row: number, column: number): number {
    if (column === 0) return impossible;
    const isSame = this.#wanted.charCodeAt(row - 1) === this.#region.charCodeAt(column - 1);
    return this.at(row - 1, column - 1) + (isSame ? 0 : Math.max(this.#ours[row - 1] ?? 0, this.#theirs[column - 1] ?? 0));
  }

  #byOneLess(row: number, column: number): number {
    return this.at(row - 1, column) + (this.#ours[row - 1] ?? 0);
  }

  #byOneMore(row: number, column: number): number {
    return column === 0 ? impossible : this.at(row, column - 1) + (this.#theirs[column - 1] ?? 0);
  }
}

function pricesOf(text: string): Uint16Array {
  return Uint16Array.from({ length: text.length }, (_, index) => (fixed.test(text[index] ?? '') ? impossible : 1));
}
