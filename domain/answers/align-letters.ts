/** A letter of the wanted text that the other has not, one that only the other has, or one for another. */
export interface Edit {
  /** Its place in the alignment, from its end. */
  at: number;
  ours?: number;
  theirs?: number;
}

interface Alignment {
  start: number;
  end: number;
  /** The last one first. */
  edits: Edit[];
}

const impossible = 1_000;
/** Digits, what is between them, and characters that are words by themselves. */
const fixed = /[\d.,:;/' \n-]|\p{Script=Han}/u;

/**
 * Aligns a text with the part of another around an offset that it resembles most, and that begins and ends at borders. Undefined if that takes
 * more edits, or one in a number.
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
 * The fewest edits between each beginning of a text and each part of another that begins at a border and ends at a column. Only columns near the
 * diagonal from an offset are looked at.
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
    const place = column - this.#firstOf(row);
    return place < 0 || place >= this.#width ? impossible : (this.#costs[row * this.#width + place] ?? impossible);
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
      const place = row * this.#width + column - this.#firstOf(row);
      if (row === 0) this.#costs[place] = this.#band.isBorder(column) ? 0 : impossible;
      else
        this.#costs[place] = Math.min(impossible, this.#byOther(row, column), this.#byOneLess(row, column), this.#byOneMore(row, column));
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

  /** By another letter, or the same. */
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
