import { mayBeInterleaved, orderColumns, type Piece } from './order-columns.ts';
import { joinedHyphen, type Pdfium, readPageText, withMemory } from './pdfium.ts';

const lineEnd = '\r\n';
const boldWeight = 600;
/** Fonts that a document does not hold have no weight but a name. */
const boldName = /bold|black|heavy|demi|cmbx/i;
/** For what PDFium returns: four numbers, then a name. */
const scratchBytes = { numbers: 32, name: 128 };
/** Wider than any space between words, in the size of the type. */
const wideGap = 0.9;
/** As wide as a blank may be between two columns in the one row that nearly fills them. */
const wideBlank = 0.4;
/** Up to a blank, or to a hyphen at which PDFium joins two lines. */
const wordOfLine = /[^\s\ufffe]+\ufffe?|\ufffe/g;
/** How far a line may lean and still be read as one that stands upright. */
const mostLean = 0.1;

/** A line of a page, as it stands in the order of reading. Lengths are in points; what PDFium does not know is undefined. */
export interface Line {
  text: string;
  /** Where it begins, from the left edge of the page. */
  x: number | undefined;
  /** Baseline above the page's lower edge. */
  y: number | undefined;
  /** Of the font, as it is shown. */
  size: number | undefined;
  /** Set in bold from its first to its last character. */
  bold: boolean;
  /** Written from left to right, not up or down the page. */
  upright: boolean;
  /** Parts of it stand so far from each other that they may be cells of a table. */
  gapped: boolean;
  /** What stands between its wide gaps, from the left; none if that is not known, or words are joined in it that line ends part. */
  parts: Part[];
  /** The table of which it is a row, in Markdown; lines of one table have the same. */
  table?: object;
}

/** A stretch of a line without a wide gap, in points. */
export interface Part {
  text: string;
  x: number;
  right: number;
  y: number;
  /** Blanks in it that are wider than most. */
  blanks: Blank[];
}

/** A blank of a text: where the word after it begins, and what is at both sides, in points. */
export interface Blank {
  at: number;
  right: number;
  x: number;
}

/** From which character to before which a stretch of a line goes, and where it ends. */
interface Stretch {
  start: number;
  end: number;
  right: number;
  blanks: Blank[];
}

/**
 * The lines of a page in PDFium's order, or by column if that order goes back and forth between two columns. `turns` is how many quarters
 * clockwise the page is shown turned; the places are then those on the turned page, except for the origin.
 */
export function readLines(pdfium: Pdfium, textPage: number, turns = 0): Line[] {
  return withMemory(pdfium, scratchBytes.numbers + scratchBytes.name, (scratch) => {
    const reader = new LineReader({ pdfium, textPage, scratch, turns });
    const raws: { raw: string; offset: number }[] = [];
    let offset = 0;
    for (const raw of readPageText(pdfium, textPage).split(lineEnd)) {
      raws.push({ raw, offset });
      offset += raw.length + lineEnd.length;
    }
    const lines = raws.map((one) => reader.read(one.raw, one.offset));
    if (!mayBeInterleaved(lines)) return lines;
    return orderColumns(raws.flatMap((one) => reader.readPieces(one.raw, one.offset))) ?? lines;
  });
}

class LineReader {
  readonly #pdfium: Pdfium;
  readonly #textPage: number;
  /** The address of memory for what PDFium returns. */
  readonly #scratch: number;
  /** By how many quarters the page is shown turned, clockwise. */
  readonly #turns: number;

  constructor(page: { pdfium: Pdfium; textPage: number; scratch: number; turns: number }) {
    this.#pdfium = page.pdfium;
    this.#textPage = page.textPage;
    this.#scratch = page.scratch;
    this.#turns = page.turns;
  }

  read(raw: string, offset: number): Line {
    const text = raw.trim();
    const [x, y] = this.#originOf(offset);
    const { scale, upright } = this.#formOf(offset);
    const size = y === undefined ? undefined : this.#pdfium.FPDFText_GetFontSize(this.#textPage, offset) * scale;
    const bold = this.#isBold(offset) && this.#isBold(offset + raw.trimEnd().length - 1);
    const parts = upright && size !== undefined ? this.#partsOf(raw, offset, size) : [];
    return { text, x, y, size, bold, upright, gapped: text !== '' && this.#hasGap(offset, raw.length, size ?? 0), parts };
  }

  /** The parts of a line between its wide gaps, and between the lines that PDFium has joined. */
  readPieces(raw: string, offset: number): Piece[] {
    const { size = 0 } = this.read(raw, offset);
    return this.#stretchesOf(raw, offset, size).map(({ start, end, right }) => ({
      ...this.read(raw.slice(start, end), offset + start),
      right,
    }));
  }

  #partsOf(raw: string, offset: number, size: number): Part[] {
    if (raw.includes(joinedHyphen)) return [];
    const parts: Part[] = [];
    for (const { start, end, right, blanks } of this.#stretchesOf(raw, offset, size)) {
      const [x, y] = this.#originOf(offset + start);
      if (x === undefined || y === undefined) return [];
      parts.push({ text: raw.slice(start, end).trim(), x, right, y, blanks });
    }
    return parts;
  }

  /** Where a line is parted: at blanks that are wide, and where PDFium has joined what a line end parts. */
  #stretchesOf(raw: string, offset: number, size: number): Stretch[] {
    const stretches: Stretch[] = [];
    let open: Stretch | undefined;
    for (const word of raw.matchAll(wordOfLine)) {
      const [start, end] = [word.index, word.index + word[0].length];
      const first = this.#boxOf(offset + start);
      const last = end - start === 1 ? first : this.#boxOf(offset + end - 1);
      if (!first || !last) continue;
      const gap = open ? first[0] - open.right : 0;
      if (!open || raw[start - 1] === joinedHyphen || gap > wideGap * size) {
        if (open) open.end = start;
        open = { start, end: raw.length, right: last[1], blanks: [] };
        stretches.push(open);
        continue;
      }
      if (gap > wideBlank * size) open.blanks.push({ at: start - open.start, right: open.right, x: first[0] });
      open.right = last[1];
    }
    return stretches;
  }

  #originOf(index: number): [number | undefined, number | undefined] {
    const { FPDFText_GetCharOrigin: read } = this.#pdfium;
    if (!read(this.#textPage, index, this.#scratch, this.#scratch + 8)) return [undefined, undefined];
    return turn([this.#double(0), this.#double(1)], this.#turns);
  }

  /** The left and the right edge of a character. */
  #boxOf(index: number): [number, number] | undefined {
    const at = (place: number) => this.#scratch + 8 * place;
    if (!this.#pdfium.FPDFText_GetCharBox(this.#textPage, index, at(0), at(1), at(2), at(3))) return undefined;
    return this.#extent();
  }

  /** How a character is scaled, and which way it stands. Some programs set all type in one point, and scale it. */
  #formOf(index: number): { scale: number; upright: boolean } {
    if (!this.#pdfium.FPDFText_GetMatrix(this.#textPage, index, this.#scratch)) return { scale: 1, upright: true };
    const [a = 1, b = 0, c = 0, d = 1] = new Float32Array(this.#pdfium.pdfium.HEAPU8.buffer, this.#scratch, 4);
    const [along, up] = turn([a, b], this.#turns);
    return { scale: Math.hypot(c, d) || 1, upright: along > 0 && Math.abs(up) <= mostLean * along };
  }

  #isBold(index: number): boolean {
    return this.#pdfium.FPDFText_GetFontWeight(this.#textPage, index) >= boldWeight || boldName.test(this.#fontNameOf(index));
  }

  /** Empty if there is none, or a very long one. */
  #fontNameOf(index: number): string {
    const at = this.#scratch + scratchBytes.numbers;
    const length = this.#pdfium.FPDFText_GetFontInfo(this.#textPage, index, at, scratchBytes.name, 0);
    if (length <= 1 || length > scratchBytes.name) return '';
    return Buffer.from(this.#pdfium.pdfium.HEAPU8.buffer, at, length - 1).toString('latin1');
  }

  /** Whether two pieces of a line that are drawn one by one are far apart. */
  #hasGap(offset: number, length: number, size: number): boolean {
    const count = this.#pdfium.FPDFText_CountRects(this.#textPage, offset, length);
    let end: number | undefined;
    for (let index = 0; index < count; index += 1) {
      const [left, right] = this.#rectangle(index);
      if (end !== undefined && left - end > wideGap * size) return true;
      end = right;
    }
    return false;
  }

  /** The left and the right edge of a rectangle of the last line that was counted. */
  #rectangle(index: number): [number, number] {
    const at = (place: number) => this.#scratch + 8 * place;
    this.#pdfium.FPDFText_GetRect(this.#textPage, index, at(0), at(3), at(1), at(2));
    return this.#extent();
  }

  /** From where to where a box goes, along the lines, of which the left, the right, the lower and the upper edge are known. */
  #extent(): [number, number] {
    const [left = 0, right = 0, bottom = 0, top = 0] = new Float64Array(this.#pdfium.pdfium.HEAPU8.buffer, this.#scratch, 4);
    const [one, other] = [turn([left, bottom], this.#turns)[0], turn([right, top], this.#turns)[0]];
    return one < other ? [one, other] : [other, one];
  }

  #double(place: number): number {
    // Taken anew each time: PDFium's memory moves when it grows.
    return new DataView(this.#pdfium.pdfium.HEAPU8.buffer).getFloat64(this.#scratch + 8 * place, true);
  }
}

/** A place or a direction on a page, as it is after so many quarters clockwise around the origin. */
function turn([x, y]: [number, number], turns: number): [number, number] {
  if (turns === 1) return [y, -x];
  if (turns === 2) return [-x, -y];
  return turns === 3 ? [-y, x] : [x, y];
}
